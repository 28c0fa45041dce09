'use client';
import * as React from 'react';
import { createComponent, type EventName } from '@lit/react';
// Imported first: a property that React sets before the element is defined becomes an attribute.
import '@connector-frame/element/define';
import {
  ConnectorFrameElement,
  initialOptions,
  type ConnectorFrameEvents,
  type ElementOptions,
  type InitialOptionName,
} from '@connector-frame/element';
import type { ConnectorFrameProps } from './connector-frame-props.js';

// Makes Lit declare the properties on the class, even if another copy of this package has registered
// the tag. Without them, `@lit/react` writes props as attributes: a server would print the token.
void ConnectorFrameElement.observedAttributes;

const named = <K extends keyof ConnectorFrameEvents>(name: string & K): EventName<ConnectorFrameEvents[K]> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type through which @lit/react knows the event
  name as EventName<ConnectorFrameEvents[K]>;

const Tag = createComponent({
  react: React,
  tagName: 'connector-frame',
  elementClass: ConnectorFrameElement,
  events: { onReady: named('ready'), onSave: named('save'), onCancel: named('cancel'), onError: named('error') },
});

/** Adds the initial values of absent props: as in HTML, an absent flag is off. */
function withInitialValues<Props extends object>(
  props: Props,
): Omit<Props, InitialOptionName> & Pick<ElementOptions, InitialOptionName> {
  const entries = Object.entries(props).map(([name, value]): unknown[] => [name, value ?? initialOptions[name]]);
  return { ...initialOptions, ...Object.fromEntries(entries) };
}

/**
 * The connector form. Its `ref` is the element, with `save()`, `test()`, `cancel()` and `reload()`.
 * A change of `kind`, `typeId`, `organizationId`, `existingId`, tenant or address mounts another
 * form; other props don't.
 *
 * @example
 * ```tsx
 * <ConnectorFrame kind="input" typeId="okta-systemlog" hostUrl="/api" tenantId="acme" />
 * ```
 */
export const ConnectorFrame: React.ForwardRefExoticComponent<
  ConnectorFrameProps & React.RefAttributes<ConnectorFrameElement>
> = React.forwardRef<ConnectorFrameElement, ConnectorFrameProps>(
  ({ onReady, onSave, onCancel, onError, ...rest }, ref) =>
    React.createElement(Tag, {
      ...withInitialValues(rest),
      ref,
      onReady: () => onReady?.(),
      onSave: ({ connector }) => onSave?.(connector),
      onCancel: () => onCancel?.(),
      onError: ({ error }) => onError?.(error),
    }),
);
ConnectorFrame.displayName = 'ConnectorFrame';
