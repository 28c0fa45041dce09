/** `@connector-frame/vue/catalog`: the picker of connector types. */
// First of all: an object given before the element is defined would become an attribute.
import '@connector-frame/element/define-catalog';
import type {
  CatalogType,
  ConnectorCatalogElement,
  ConnectorErrorEvent,
  ConnectorSelectEvent,
} from '@connector-frame/element/catalog';
import type { ConnectorFrameError } from '@connector-frame/element';
import { defineComponent, h, onMounted, shallowRef, toRaw, watch, type DefineComponent } from 'vue';
import { like } from './options.js';

export type { CatalogType, ConnectorCatalogElement };

/** Props of `<ConnectorCatalog>`: the element's properties, under the same names. */
export interface ConnectorCatalogProps {
  /** Which catalog to ask the host for. Default: `input`. */
  kind?: 'input' | 'output' | undefined;
  /** Where your host's routes stand: `/api`. Its catalog route is asked, unless `types` are given. */
  hostUrl?: string | undefined;
  /** The types to choose from. */
  types?: CatalogType[] | undefined;
  /** `type_id` of the type that is shown as chosen. */
  selected?: string | undefined;
}

/** What `<ConnectorCatalog>` emits. */
export type ConnectorCatalogEmits = {
  /** The person chose a type. */
  select: (type: CatalogType) => void;
  /** The types can't be had: branch on `error.code`. */
  error: (error: ConnectorFrameError) => void;
};

/** The picker: search, categories, marks. Slots `loading`, `error` and `empty` take the place of those views. */
export const ConnectorCatalog: DefineComponent<ConnectorCatalogProps, {}, {}, {}, {}, {}, {}, ConnectorCatalogEmits> =
  defineComponent({
    name: 'ConnectorCatalog',
    props: {
      kind: like<'input' | 'output'>(String),
      hostUrl: String,
      types: like<CatalogType[]>(Array),
      selected: String,
    },
    emits: ['select', 'error'],

    setup(props, { emit, slots }) {
      const element = shallowRef<ConnectorCatalogElement | null>(null);
      const give = (): void => {
        const { kind, hostUrl, types, selected } = props;
        if (element.value) Object.assign(element.value, { kind, hostUrl, types: toRaw(types), selected });
      };
      onMounted(give);
      watch(props, give, { flush: 'post' });
      const slot = (name: 'loading' | 'error' | 'empty') => slots[name] && h('div', { slot: name }, slots[name]());
      return () =>
        h(
          'connector-catalog',
          {
            ref: element,
            onSelect: ({ connectorType }: ConnectorSelectEvent) => emit('select', connectorType),
            onError: ({ error }: ConnectorErrorEvent) => emit('error', error),
          },
          [slot('loading'), slot('error'), slot('empty')],
        );
    },
  });
