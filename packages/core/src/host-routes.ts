/** JSON of the routes of the host's backend. The host chooses their paths. */
import type { ConnectorTypeId } from './options/connector-types.js';
import type { PipelineStatus } from './lifecycle.js';

/** Response of the configuration route: addresses for `createConnectorFrame`. */
export interface HostConfig {
  frameOrigin: string;
  apiBase: string;
}

/** Response of the session route. */
export interface HostSession {
  session_token: string;
  /** Expiry time in RFC 3339 format. */
  expires_at: string;
  organizationId: string;
}

/**
 * Why the service does not run a type. `not_yet`: a later release may. `not_set_up`: the operator has not
 * configured what it needs. `agent`: its records can only be read by an agent on the host.
 * `proprietary`: its protocol is not public. `withdrawn`: the vendor has withdrawn the API.
 */
export type UnavailableReason = 'not_yet' | 'not_set_up' | 'agent' | 'proprietary' | 'withdrawn';

/** A connector type of the host's catalog. */
export interface CatalogType {
  type_id: ConnectorTypeId;
  name: string;
  description: string;
  category: string;
  /** URL of the vendor's icon (SVG), shared by types of one vendor. `null`: show a placeholder. */
  icon: string | null;
  /**
   * Whether the service can run pipelines with this type. `false`: it can only be saved. Absent if
   * the service doesn't say.
   */
  runtime?: boolean;
  /** Why it can't. Absent if `runtime` is not `false`, or the service doesn't say. */
  unavailable?: { reason: UnavailableReason };
  /** Other names that people search for: `gsuite`, `azure ad`. */
  aliases?: readonly string[];
}

/** A connector of the tenant. */
export interface ConfiguredConnector {
  id: string;
  /** ID of its connector type: the service's `type`. */
  type_id: ConnectorTypeId;
  name: string;
  description: string;
  /** Present if the customer has to connect an account again: open the form for it. */
  needs_reauth?: true;
}

/** Actions of the integration route. */
export type IntegrationAction = 'status' | 'pause' | 'resume' | 'delete';

/** Response of the integration route to `status`, `pause` and `resume`. `delete` responds 204. */
export interface IntegrationStatus {
  hasPipeline: boolean;
  enabled: boolean;
  pipelineId?: string;
  outputId?: string;
  status?: PipelineStatus;
}

/** Body of an error response of a host route. `code` is stable; `message` is for display. */
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
  /** The request names a connector that the organization doesn't have. Only with `not_found`. */
  resource?: 'connector';
}
