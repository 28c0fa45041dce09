import type { ComponentKind } from '@connector-frame/core/protocol';
import { text } from './fields.js';
import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';
import type { RouteTools } from './route.js';
import { ServiceRequestError } from './service-request-error.js';

/** Used in URL paths, so it must not contain `/` or start with a dot. */
const idPattern = /^[\w-][\w.:-]{0,127}$/;

/** Returns the id of a connector from a field of the request. */
export function connectorId(fields: UnknownRecord, name: string, kind: ComponentKind): string {
  const id = text(fields, name);
  if (idPattern.test(id)) return id;
  throw new HostError('invalid_request', `"${name}" is not the id of an ${kind}.`);
}

/** Returns the service's path of an organization's connectors. Enrichments came with its third version. */
export function connectorsPath(org: string, kind: ComponentKind): string {
  return `/${kind === 'enrichment' ? 'v3' : 'v1'}/${encodeURIComponent(org)}/${kind}s`;
}

/** Returns the service's path of a connector. */
export function connectorPath(org: string, kind: ComponentKind, id: string): string {
  return `${connectorsPath(org, kind)}/${encodeURIComponent(id)}`;
}

/**
 * Loads a connector from the tenant's own organization. Returns `undefined` if it does not exist
 * there, as for one of another tenant.
 * @throws HostError `forbidden` if this host does not offer its type
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
  if (!isRecord(known)) throw new HostError('upstream_error', 'The service sent an unexpected response.');
  if (allow && !allow[kind]?.includes(String(known['type']))) {
    throw new HostError('forbidden', 'This type of connector is not offered here.');
  }
  return known;
}
