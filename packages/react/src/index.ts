'use client';
export { ConnectorFrame } from './connector-frame.js';
export type { ConnectorFrameProps } from './connector-frame-props.js';
export { ConnectorFrameError } from '@connector-frame/element';
export type {
  Appearance,
  ComponentKind,
  ConfigMetaOverrides,
  ConnectorFrameElement,
  ConnectorFrameErrorCode,
  ConnectorFrameSession,
  FieldOverride,
  SavedConnector,
} from '@connector-frame/element';
