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
  /** Whether the input exists. */
  exists: boolean;
  /** Calls the service. The response for this input is cached, so requesting it again is free. */
  request: ServiceRequest;
}

/**
 * Looks up an input in the tenant's organization. Inputs of other tenants count as missing.
 * @throws HostError `forbidden` if this host does not offer the input's type
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
  const request: ServiceRequest = async (asked, init) =>
    asked === path && (init?.method ?? 'GET') === 'GET' ? known : tools.service(asked, init);
  return { org, inputId, exists: true, request };
}

/** Throws `not_found` if the input does not exist. */
export function requireInput({ exists }: TenantInput): void {
  if (!exists) throw new HostError('not_found', 'There is no such input.');
}
