import type { ServiceRequest } from '@connector-frame/core/connect';
import { authorize } from './authorize.js';
import { text } from './fields.js';
import { HostError } from './host-error.js';
import type { UnknownRecord } from './is-record.js';
import type { Call, RouteTools } from './route.js';
import { connectorId, connectorPath, tenantConnector } from './tenant-connector.js';

/** The input that a request names, in the tenant's organization. */
export interface TenantInput {
  org: string;
  inputId: string;
  /** Whether it exists. */
  exists: boolean;
  /** Calls the service; the input that was already loaded is returned without another request. */
  request: ServiceRequest;
}

/**
 * Loads an input from the tenant's own organization; that of another tenant does not exist there.
 * @throws HostError `forbidden` if this host does not offer its type
 */
export async function inputOf<Context>(
  tools: RouteTools<Context>,
  call: Call<Context>,
  fields: UnknownRecord,
): Promise<TenantInput> {
  const inputId = connectorId(fields, 'inputId', 'input');
  const org = await authorize(tools, call, text(fields, 'tenantId'));
  const known = await tenantConnector(tools, org, 'input', inputId);
  if (!known) return { org, inputId, exists: false, request: tools.service };
  const path = connectorPath(org, 'input', inputId);
  const request: ServiceRequest = async (requested, init) =>
    requested === path && (init?.method ?? 'GET') === 'GET' ? known : tools.service(requested, init);
  return { org, inputId, exists: true, request };
}

/** Throws if the input does not exist. */
export function requireInput({ exists }: TenantInput): void {
  if (!exists) throw new HostError('not_found', 'There is no such input.');
}
