import type { ServiceRequest } from '@connector-frame/core/connect';
import { authorize } from './authorize.js';
import { text } from './fields.js';
import { HostError } from './host-error.js';
import type { UnknownRecord } from './is-record.js';
import type { Call, RouteTools } from './route.js';
import { connectorId, connectorPath, tenantConnector } from './tenant-connector.js';

/** The input a page names, in the tenant's organization. */
export interface TenantInput {
  org: string;
  inputId: string;
  /** Whether there is one. */
  exists: boolean;
  /** The service, which has told of this input already: asking for it again costs no request. */
  request: ServiceRequest;
}

/**
 * Looks an input up in the tenant's own organization: another tenant's is not there. Refuses one whose type this host does
 * not offer.
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

/** As one that a route can't do without. */
export function requireInput({ exists }: TenantInput): void {
  if (!exists) throw new HostError('not_found', 'There is no such input.');
}
