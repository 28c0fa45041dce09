'use client';
import * as React from 'react';
import { createComponent, type EventName } from '@lit/react';
// First of all: a property that React sets before the element is defined stays an attribute for good.
import '@connector-frame/element/define';
import { ConnectorFrameElement, type ConnectorFrameEvents } from '@connector-frame/element';
import type { ConnectorFrameProps } from './connector-frame-props.js';

// Makes Lit declare the properties on the class even where another copy of this package has registered the tag. Without
// them `@lit/react` writes props as attributes: a server would print the token.
void ConnectorFrameElement.observedAttributes;

const named = <K extends keyof ConnectorFrameEvents>(name: string & K): EventName<ConnectorFrameEvents[K]> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- how @lit/react learns what event a name stands for
  name as EventName<ConnectorFrameEvents[K]>;

const Tag = createComponent({
  react: React,
  tagName: 'connector-frame',
  elementClass: ConnectorFrameElement,
  events: { onReady: named('ready'), onSave: named('save'), onCancel: named('cancel'), onError: named('error') },
});

/**
 * The connector form. Its `ref` is the element, with `save()`, `test()`, `cancel()` and `reload()`.
 * Another `kind`, `typeId`, `organizationId`, `existingId`, tenant or address shows another form; no other prop does.
 */
export const ConnectorFrame: React.ForwardRefExoticComponent<
  ConnectorFrameProps & React.RefAttributes<ConnectorFrameElement>
> = React.forwardRef<ConnectorFrameElement, ConnectorFrameProps>(
  ({ onReady, onSave, onCancel, onError, ...rest }, ref) =>
    React.createElement(Tag, {
      ...rest,
      // An absent flag is the element's default, as it would be in HTML.
      isNameEditable: rest.isNameEditable ?? false,
      isDescriptionEditable: rest.isDescriptionEditable ?? false,
      synthetic: rest.synthetic ?? false,
      preload: rest.preload ?? 'none',
      ref,
      onReady: () => onReady?.(),
      onSave: ({ connector }) => onSave?.(connector),
      onCancel: () => onCancel?.(),
      onError: ({ error }) => onError?.(error),
    }),
);
ConnectorFrame.displayName = 'ConnectorFrame';
