import type { ComponentKind } from '@connector-frame/core/protocol';
import { text } from './fields.js';
import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';
import type { RouteTools } from './route.js';
import { ServiceRequestError } from './service-request-error.js';

/** The id is part of request paths; the pattern prevents path traversal. */
const idPattern = /^[\w-][\w.:-]{0,127}$/;

/** The id of a connector, as a page names it in a field. */
export function connectorId(fields: UnknownRecord, name: string, kind: ComponentKind): string {
  const id = text(fields, name);
  if (idPattern.test(id)) return id;
  throw new HostError('invalid_request', `"${name}" is not the id of an ${kind}.`);
}

/** Where the service tells of a connector. */
export function connectorPath(org: string, kind: ComponentKind, id: string): string {
  return `/v1/${org}/${kind}s/${encodeURIComponent(id)}`;
}

/**
 * A connector of the tenant's own organization, as the service tells of it; `undefined` where there is none, which is also what
 * another tenant's is. Refuses one whose type this host does not offer.
 */
export async function tenantConnector<Context>(
  { service, options: { allow } }: RouteTools<Context>,
  org: string,
  kind: ComponentKind,
  id: string,
): Promise<UnknownRecord | undefined> {
  const known = await service(connectorPath(org, kind, id), {}).catch((error: unknown) => {
    if (error instanceof ServiceRequestError && error.status === 404) return null;
    throw error;
  });
  if (known === null) return undefined;
  if (!isRecord(known)) throw new HostError('upstream_error', 'The service answered in an unknown shape.');
  if (allow && !allow[kind]?.includes(String(known['type']))) {
    throw new HostError('forbidden', 'This type of connector is not offered here.');
  }
  return known;
}
