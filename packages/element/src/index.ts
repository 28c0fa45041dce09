/**
 * `@connector-frame/element`: the class of `<connector-frame>`, its events, and the types that a
 * host needs. Importing it registers nothing.
 */
export { ConnectorFrameElement } from './connector-frame-element.js';
export {
  elementOptions,
  initialOptions,
  type ElementOptions,
  type InitialOptionName,
  type Preload,
} from './element-options.js';
export { ConnectorCancelEvent } from './events/connector-cancel-event.js';
export { ConnectorErrorEvent } from './events/connector-error-event.js';
export { ConnectorReadyEvent } from './events/connector-ready-event.js';
export { ConnectorSaveEvent } from './events/connector-save-event.js';
export type { ConnectorFrameEventMap, ConnectorFrameEvents } from './events/event-map.js';
export type { ElementMessages } from './messages/en.js';
export { registerMessages } from './messages/registry.js';
export { ConnectorFrameError } from '@connector-frame/core/connect';
export type {
  Appearance,
  ComponentKind,
  ConfigMetaOverrides,
  ConnectorFrameErrorCode,
  ConnectorFrameOptions,
  ConnectorFrameSession,
  DiscriminatorMetaOverride,
  FieldMetaOverride,
  SavedConnector,
} from '@connector-frame/core/connect';
