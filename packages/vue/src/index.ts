import type { ConnectorFrameComponent } from './connector-frame-component.js';

export { ConnectorFrame } from './connector-frame.js';
export { createConnectorFrames } from './create-connector-frames.js';
export type { ConnectorFrameComponent, ConnectorFrameExposed } from './connector-frame-component.js';
export type { ConnectorFrameEmits, ConnectorFrameProps } from './connector-frame-props.js';
export { ConnectorFrameError, registerMessages } from '@connector-frame/element';
export type {
  Appearance,
  ComponentKind,
  ConfigMetaOverrides,
  ConnectorFrameElement,
  ConnectorFrameErrorCode,
  ConnectorFrameSession,
  ElementMessages,
  DiscriminatorMetaOverride,
  FieldMetaOverride,
  SavedConnector,
} from '@connector-frame/element';

declare module 'vue' {
  interface GlobalComponents {
    /** Registered by the plugin of `createConnectorFrames`. */
    ConnectorFrame: ConnectorFrameComponent;
  }
}
