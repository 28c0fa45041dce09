/**
 * Restricts what a session may access within its own organization. API keys and users pass these
 * checks; they are restricted by permissions instead.
 */
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { forbidden, notFound } from '../api-error.js';
import type { Principal } from './principal.js';

/**
 * Requires a scope that covers connectors of this kind.
 * @throws ApiError 403
 */
export function requireKind(principal: Principal, kind: ConnectorKind): void {
  if (principal.type === 'session' && (principal.session.kind ?? kind) !== kind) {
    throw forbidden(`This session is for ${principal.session.kind}s only.`);
  }
}

/**
 * Requires a scope that covers this connector type.
 * @throws ApiError 403
 */
export function requireType(principal: Principal, typeId: string): void {
  if (!coversType(principal, typeId)) throw forbidden('This session is for other connector types.');
}

/**
 * Requires a scope that covers this connector.
 * @throws ApiError 403 if the session is restricted to another connector
 */
export function requireConnector(principal: Principal, connectorId: string): void {
  if (principal.type === 'session' && (principal.session.connectorId ?? connectorId) !== connectorId) {
    throw forbidden('This session is for another connector.');
  }
}

/**
 * Requires a scope that allows creating connectors.
 * @throws ApiError 403 if the session is restricted to one existing connector
 */
export function requireCreate(principal: Principal): void {
  if (principal.type === 'session' && principal.session.connectorId !== undefined) {
    throw forbidden('This session is limited to one connector and cannot create others.');
  }
}

/**
 * Requires a scope that covers the type of an existing connector. The error is the same as for an
 * unknown connector.
 * @throws ApiError 404
 */
export function requireCovered(principal: Principal, typeId: string): void {
  if (!coversType(principal, typeId)) throw notFound();
}

/** Returns whether a caller may use a secret of the organization: a session only those it names. */
export const mayReferTo = (principal: Principal, secretId: string): boolean =>
  principal.type !== 'session' || (principal.session.secretIds?.includes(secretId) ?? false);

const coversType = (principal: Principal, typeId: string): boolean =>
  principal.type !== 'session' || principal.session.typeIds === undefined || principal.session.typeIds.includes(typeId);
