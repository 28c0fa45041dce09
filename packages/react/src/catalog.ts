'use client';
/** `@connector-frame/react/catalog`: the picker of connector types. */
import * as React from 'react';
import { createComponent, type EventName } from '@lit/react';
// First of all: a property that React sets before the element is defined stays an attribute for good.
import '@connector-frame/element/define-catalog';
import {
  ConnectorCatalogElement,
  type CatalogType,
  type ConnectorCatalogEvents,
} from '@connector-frame/element/catalog';
import type { ConnectorFrameError } from '@connector-frame/element';

export type { CatalogType, ConnectorCatalogElement };

interface OwnProps {
  /** Which catalog to ask the host for. Default: `input`. */
  kind?: 'input' | 'output' | undefined;
  /** Where your host's routes stand: `/api`. Its catalog route is asked, unless `types` are given. */
  hostUrl?: string | undefined;
  /** The types to choose from. */
  types?: CatalogType[] | undefined;
  /** `type_id` of the type that is shown as chosen. */
  selected?: string | undefined;
  /** The person chose a type. */
  onSelect?: ((type: CatalogType) => void) | undefined;
  /** The types can't be had: branch on `error.code`. */
  onError?: ((error: ConnectorFrameError) => void) | undefined;
}

/** Props of `<ConnectorCatalog>`. A child with `slot="loading"`, `slot="error"` or `slot="empty"` takes the place of that view. */
export type ConnectorCatalogProps = OwnProps &
  Omit<React.HTMLAttributes<ConnectorCatalogElement>, keyof OwnProps | 'dangerouslySetInnerHTML'>;

const named = <K extends keyof ConnectorCatalogEvents>(name: string & K): EventName<ConnectorCatalogEvents[K]> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- how @lit/react learns what event a name stands for
  name as EventName<ConnectorCatalogEvents[K]>;

// Makes Lit declare the properties on the class even where another copy of this package has registered the tag.
void ConnectorCatalogElement.observedAttributes;

const Tag = createComponent({
  react: React,
  tagName: 'connector-catalog',
  elementClass: ConnectorCatalogElement,
  events: { onSelect: named('select'), onError: named('error') },
});

/** The picker: search, categories, marks. Its `ref` is the element, with `reload()` and `focus()`. */
export const ConnectorCatalog: React.ForwardRefExoticComponent<
  ConnectorCatalogProps & React.RefAttributes<ConnectorCatalogElement>
> = React.forwardRef<ConnectorCatalogElement, ConnectorCatalogProps>(({ onSelect, onError, ...rest }, ref) =>
  React.createElement(Tag, {
    ...rest,
    ref,
    onSelect: ({ connectorType }) => onSelect?.(connectorType),
    onError: ({ error }) => onError?.(error),
  }),
);
ConnectorCatalog.displayName = 'ConnectorCatalog';
