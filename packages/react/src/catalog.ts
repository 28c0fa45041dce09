'use client';
/** `@connector-frame/react/catalog`: the catalog of connector types. */
import * as React from 'react';
import { createComponent, type EventName } from '@lit/react';
// Imported first: a property that React sets before the element is defined becomes an attribute.
import '@connector-frame/element/define-catalog';
import {
  ConnectorCatalogElement,
  type CatalogType,
  type ConnectorCatalogEvents,
} from '@connector-frame/element/catalog';
import type { ComponentKind, ConnectorFrameError } from '@connector-frame/element';

export type { CatalogType, ConnectorCatalogElement };

interface OwnProps {
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
  /** The user chose a type. */
  onSelect?: ((type: CatalogType) => void) | undefined;
  /** The types could not be loaded: branch on `error.code`. */
  onError?: ((error: ConnectorFrameError) => void) | undefined;
}

/**
 * Props of `<ConnectorCatalog>`. A child with `slot="loading"`, `slot="error"` or `slot="empty"`
 * replaces that view.
 */
export type ConnectorCatalogProps = OwnProps &
  Omit<React.HTMLAttributes<ConnectorCatalogElement>, keyof OwnProps | 'dangerouslySetInnerHTML'>;

const named = <K extends keyof ConnectorCatalogEvents>(name: string & K): EventName<ConnectorCatalogEvents[K]> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type through which @lit/react knows the event
  name as EventName<ConnectorCatalogEvents[K]>;

// Makes Lit declare the properties on the class, even if another copy of this package has registered
// the tag.
void ConnectorCatalogElement.observedAttributes;

const Tag = createComponent({
  react: React,
  tagName: 'connector-catalog',
  elementClass: ConnectorCatalogElement,
  events: { onSelect: named('select'), onError: named('error') },
});

/**
 * The catalog of connector types, with search and categories. Its `ref` is the element, with
 * `reload()` and `focus()`.
 */
export const ConnectorCatalog: React.ForwardRefExoticComponent<
  ConnectorCatalogProps & React.RefAttributes<ConnectorCatalogElement>
> = React.forwardRef<ConnectorCatalogElement, ConnectorCatalogProps>(
  ({ onSelect, onError, showUnavailable = false, ...rest }, ref) =>
    React.createElement(Tag, {
      ...rest,
      showUnavailable,
      ref,
      onSelect: ({ connectorType }) => onSelect?.(connectorType),
      onError: ({ error }) => onError?.(error),
    }),
);
ConnectorCatalog.displayName = 'ConnectorCatalog';
