import { shallowReactive } from 'vue';

/**
 * Loads a list from the host immediately. `load` fetches
 * it again.
 */
export function useList<Item>(
  fetchItems: () => Promise<Item[]>,
) {
  const list = shallowReactive<{
    items?: Item[] | undefined;
    failure?: string | undefined;
    load: () => void;
  }>({
    load() {
      list.items = undefined;
      list.failure = undefined;
      fetchItems().then(
        (items) => Object.assign(list, { items }),
        (error: Error) =>
          Object.assign(list, { failure: error.message }),
      );
    },
  });
  list.load();
  return list;
}
