'use client';
export { ConnectorFrame } from './connector-frame.js';
export type { ConnectorFrameProps } from './connector-frame-props.js';
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
