/**
 * `import '@connector-frame/element/jsx-preact'` once to type `<connector-frame>` in Preact's JSX.
 */
import type { ClassAttributes, HTMLAttributes } from 'preact';
import type { ConnectorFrameElement } from './connector-frame-element.js';
import type { ConnectorFrameJsxProps } from './jsx.js';

/** Props of `<connector-frame>` in Preact. */
export type ConnectorFramePreactProps = ConnectorFrameJsxProps &
  Omit<HTMLAttributes<ConnectorFrameElement>, keyof ConnectorFrameJsxProps> &
  ClassAttributes<ConnectorFrameElement>;

declare module 'preact' {
  // oxlint-disable-next-line typescript/no-namespace -- where Preact looks for tags
  namespace JSX {
    interface IntrinsicElements {
      'connector-frame': ConnectorFramePreactProps;
    }
  }
}
