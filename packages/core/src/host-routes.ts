/** Shapes between a page and the host's own backend. Paths are the host's choice. */
import type { ConnectorTypeId } from './options/connector-types.js';
import type { PipelineStatus } from './lifecycle.js';

/** Answer of the configuration route: the addresses `createConnectorFrame` takes. */
export interface HostConfig {
  frameOrigin: string;
  apiBase: string;
}

/** Answer of the session route. */
export interface HostSession {
  session_token: string;
  /** RFC 3339. */
  expires_at: string;
  organizationId: string;
}

/** One connector type a host offers. */
export interface CatalogType {
  type_id: ConnectorTypeId;
  name: string;
  description: string;
  category: string;
  /** Address of the vendor's mark (SVG), or `null`: show a placeholder. Many types share one mark. */
  icon: string | null;
}

/** One connector of the tenant. */
export interface ConfiguredConnector {
  id: string;
  /** The service's `type`, under the name the catalog uses. */
  type_id: ConnectorTypeId;
  name: string;
  description: string;
}

/** What the integration route can be asked to do. */
export type IntegrationAction = 'status' | 'pause' | 'resume' | 'delete';

/** Answer of the integration route to `status`, `pause` and `resume`. `delete` answers 204. */
export interface IntegrationStatus {
  hasPipeline: boolean;
  enabled: boolean;
  pipelineId?: string;
  outputId?: string;
  status?: PipelineStatus;
}

/** Body of every refusal of a host route. `code` is stable, `message` is for people. */
export interface HostRouteError {
  code:
    | 'invalid_request'
    | 'unauthenticated'
    | 'forbidden'
    | 'not_found'
    | 'conflict'
    | 'rate_limited'
    | 'upstream_error'
    | 'internal_error';
  message: string;
}
