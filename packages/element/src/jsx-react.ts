/**
 * `import '@connector-frame/element/jsx-react'` once to type `<connector-frame>` in React 19's JSX.
 */
import type { ClassAttributes, HTMLAttributes } from 'react';
import type { ConnectorFrameElement } from './connector-frame-element.js';
import type { ConnectorFrameJsxProps } from './jsx.js';

/** Props of `<connector-frame>` in React 19. */
export type ConnectorFrameReactProps = ConnectorFrameJsxProps &
  Omit<HTMLAttributes<ConnectorFrameElement>, keyof ConnectorFrameJsxProps> &
  ClassAttributes<ConnectorFrameElement>;

declare module 'react' {
  // oxlint-disable-next-line typescript/no-namespace -- where React looks for tags
  namespace JSX {
    interface IntrinsicElements {
      'connector-frame': ConnectorFrameReactProps;
    }
  }
}
