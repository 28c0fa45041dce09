/** `@connector-frame/core/connect`: for host pages and their backends. */
export { createConnectorFrame } from './create-connector-frame.js';
export { PROTOCOL_SOURCE, PROTOCOL_VERSION } from './protocol/messages.js';
export { buildDevNullPipeline } from './integrations/build-dev-null-pipeline.js';
export { findIntegrationPipeline } from './integrations/find-integration-pipeline.js';
export {
  disableIntegration,
  enableIntegration,
  setIntegrationEnabled,
} from './integrations/set-integration-enabled.js';
export {
  CLEANUP_FULL,
  CLEANUP_KEEP_OUTPUT,
  CLEANUP_PIPELINE_ONLY,
  deleteIntegration,
} from './integrations/delete-integration.js';
export { ConnectorFrameError, type ConnectorFrameErrorCode } from './connector-frame-error.js';
export type { ConnectorFrame, ConnectorFrameOptions } from './options/connector-frame-options.js';
export type { ConnectorFrameSession, ErrorHandler, FetchSession } from './options/option-values.js';
// With `*`, so that a `declare module '@connector-frame/core/connect'` can augment its interface.
export type * from './options/connector-types.js';
export type {
  Appearance,
  CancelMessage,
  CommandMessage,
  ComponentKind,
  ConfigMetaOverrides,
  DirtyMessage,
  DiscriminatorMetaOverride,
  ErrorMessage,
  FieldMetaOverride,
  FormCommand,
  FrameMessage,
  HostMessage,
  InitMessage,
  LeaveMessage,
  LeftMessage,
  LoadedMessage,
  ReadyMessage,
  ResizeMessage,
  SavedConnector,
  SavedMessage,
  SessionMessage,
  SessionRequestMessage,
} from './protocol/messages.js';
export type {
  BuildDevNullPipelineOptions,
  BuiltPipeline,
  CleanupPolicy,
  DeleteIntegrationOptions,
  FindIntegrationPipelineOptions,
  IntegrationError,
  IntegrationScope,
  PipelineStatus,
  ResolvedIntegration,
  ServiceRequest,
  SetIntegrationEnabledOptions,
  ToggleIntegrationOptions,
} from './lifecycle.js';
export type {
  CatalogType,
  ConfiguredConnector,
  HostConfig,
  HostRouteError,
  HostSession,
  IntegrationAction,
  IntegrationStatus,
  UnavailableReason,
} from './host-routes.js';
