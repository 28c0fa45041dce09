/** `@connector-frame/vue/catalog`: the catalog of connector types. */
// Imported first: an object that is set before the element is defined becomes an attribute.
import '@connector-frame/element/define-catalog';
import type {
  CatalogType,
  ConnectorCatalogElement,
  ConnectorErrorEvent,
  ConnectorSelectEvent,
} from '@connector-frame/element/catalog';
import type { ComponentKind, ConnectorFrameError } from '@connector-frame/element';
import { defineComponent, h, onMounted, shallowRef, toRaw, watch, type DefineComponent } from 'vue';
import { typed } from './runtime-props.js';

export type { CatalogType, ConnectorCatalogElement };

/** Props of `<ConnectorCatalog>`: the element's properties, under the same names. */
export interface ConnectorCatalogProps {
  /** Catalog to request from the host. Default: `input`. */
  kind?: ComponentKind | undefined;
  /**
   * Base URL of your host's routes: `/api`. Its catalog route is requested unless `types` is set.
   */
  hostUrl?: string | undefined;
  /** The connector types to choose from. */
  types?: CatalogType[] | undefined;
  /** `type_id` of the type that is marked as chosen. */
  selected?: string | undefined;
  /** Also shows the types that the service can save, but not run. Default: `false`. */
  showUnavailable?: boolean | undefined;
  /** Language of the texts, as a BCP 47 tag. Default: the closest `lang` attribute. */
  locale?: string | undefined;
}

/** Events of `<ConnectorCatalog>`. */
export type ConnectorCatalogEmits = {
  /** The user chose a type. */
  select: (type: CatalogType) => void;
  /** The types could not be loaded: branch on `error.code`. */
  error: (error: ConnectorFrameError) => void;
};

/**
 * The catalog of connector types, with search and categories. The slots `loading`, `error` and
 * `empty` replace those views.
 */
export const ConnectorCatalog: DefineComponent<ConnectorCatalogProps, {}, {}, {}, {}, {}, {}, ConnectorCatalogEmits> =
  defineComponent({
    name: 'ConnectorCatalog',
    props: {
      kind: typed<ComponentKind>(String),
      hostUrl: String,
      types: typed<CatalogType[]>(Array),
      selected: String,
      showUnavailable: Boolean,
      locale: String,
    },
    emits: ['select', 'error'],

    setup(props, { emit, slots }) {
      const element = shallowRef<ConnectorCatalogElement | null>(null);
      const setProperties = (): void => {
        const { types, ...others } = props;
        if (element.value) Object.assign(element.value, { ...others, types: toRaw(types) });
      };
      onMounted(setProperties);
      watch(props, setProperties, { flush: 'post' });
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
