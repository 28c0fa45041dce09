export type {
  BuiltPipeline,
  CatalogType,
  ConfiguredConnector,
  HostConfig,
  HostRouteError,
  HostSession,
  IntegrationAction,
  IntegrationStatus,
  PipelineStatus,
  ServiceRequest,
} from '@connector-frame/core/connect';
export type { CleanupName } from './cleanup-names.js';
export { createHost, type Host } from './create-host.js';
export { createServiceRequest, type ServiceRequestOptions } from './create-service-request.js';
export { HostError, type HostErrorCode, type HostErrorOptions } from './host-error.js';
export type { AllowedTypes, HostOptions, RouteSet, Team } from './host-options.js';
export { ServiceRequestError } from './service-request-error.js';
