import type { ServiceRequest } from '@connector-frame/core/connect';
import { authorize } from './authorize.js';
import { text } from './fields.js';
import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';
import type { Call, RouteTools } from './route.js';
import { ServiceRequestError } from './service-request-error.js';

/** It stands in paths, so it may not climb out of them. */
const inputIdPattern = /^[\w-][\w.:-]{0,127}$/;

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
  const inputId = text(fields, 'inputId');
  if (!inputIdPattern.test(inputId)) throw new HostError('invalid_request', '"inputId" is not the id of an input.');
  const org = await authorize(tools, call, text(fields, 'tenantId'));
  const path = `/v1/${org}/inputs/${encodeURIComponent(inputId)}`;
  const known = await tools.service(path, {}).catch((error: unknown) => {
    if (error instanceof ServiceRequestError && error.status === 404) return null;
    throw error;
  });
  if (known === null) return { org, inputId, exists: false, request: tools.service };
  if (!isRecord(known)) throw new HostError('upstream_error', 'The service answered in an unknown shape.');
  const { allow } = tools.options;
  if (allow && !allow.input?.includes(String(known['type']))) {
    throw new HostError('forbidden', 'This type of connector is not offered here.');
  }
  const request: ServiceRequest = async (asked, init) =>
    asked === path && (init?.method ?? 'GET') === 'GET' ? known : tools.service(asked, init);
  return { org, inputId, exists: true, request };
}

/** As one that a route can't do without. */
export function requireInput({ exists }: TenantInput): void {
  if (!exists) throw new HostError('not_found', 'There is no such input.');
}
