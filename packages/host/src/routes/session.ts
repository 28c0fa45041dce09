import type { HostSession } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { authorize } from '../authorize.js';
import { kindOf, optionalId, optionalKind, text } from '../fields.js';
import { HostError } from '../host-error.js';
import type { AllowedTypes } from '../host-options.js';
import { json, readJson } from '../json.js';
import { isRecord } from '../is-record.js';
import { KINDS } from '../kinds.js';
import { ServiceRequestError } from '../service-request-error.js';
import type { Route, RouteTools } from '../route.js';

/**
 * `POST /session`: mints a short-lived token for one team. The page may request less than the host
 * allows (`kind`, `typeId`, `connectorId`), never more.
 */
export function sessionRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  const { options, service } = tools;
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const tenantId = text(fields, 'tenantId');
      const typeId = optionalId(fields, 'typeId');
      const kind = typeId === undefined ? optionalKind(fields) : kindOf(fields);
      const connectorId = optionalId(fields, 'connectorId');
      const organizationId = await authorize(tools, call, tenantId);
      const body = {
        organization_id: organizationId,
        ttl_seconds: options.sessionTtl,
        parent_origins: options.parentOrigins,
        connector_id: connectorId,
        ...narrow(options.allow, kind, typeId),
      };
      const minted = service('/v3/sessions', { method: 'POST', body: JSON.stringify(body) });
      const session = await (connectorId === undefined ? minted : minted.catch(explainNotFound));
      return json(sessionOf(session, organizationId));
    },
  };
}

/** Returns the requested kind and types, restricted to what the host offers. */
function narrow(allow: AllowedTypes | undefined, requestedKind: ComponentKind | undefined, typeId: string | undefined) {
  const requestedIds = typeId === undefined ? undefined : [typeId];
  if (!allow) return { kind: requestedKind, type_ids: requestedIds };
  const offered = KINDS.filter((kind) => allow[kind]?.length);
  const kinds = requestedKind ? offered.filter((kind) => kind === requestedKind) : offered;
  const offeredIds = kinds.flatMap((kind) => allow[kind] ?? []);
  const ids = requestedIds ? requestedIds.filter((id) => offeredIds.includes(id)) : [...new Set(offeredIds)];
  if (ids.length === 0) {
    const type = typeId === undefined ? 'This type of connector' : `The type of connector "${typeId}"`;
    throw new HostError('forbidden', `${type} is not offered here.`);
  }
  return { kind: kinds.length === 1 ? kinds[0] : undefined, type_ids: ids };
}

/** The service responds with 404 to a session for a connector that the organization doesn't have. */
function explainNotFound(error: unknown): never {
  if (!(error instanceof ServiceRequestError) || error.status !== 404) throw error;
  throw new HostError('not_found', 'There is no such connector.', { resource: 'connector', cause: error });
}

/** Not every service returns the organization, so it defaults to the requested one. */
function sessionOf(body: unknown, requested: string): HostSession {
  if (isRecord(body)) {
    const { session_token, expires_at, organizationId = requested } = body;
    if (typeof session_token === 'string' && typeof expires_at === 'string' && typeof organizationId === 'string') {
      return { session_token, expires_at, organizationId };
    }
  }
  throw new HostError('upstream_error', 'The service sent an unexpected response.');
}
