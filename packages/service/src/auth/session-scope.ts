/** What a session may not touch within its own organization. API keys pass: they have permissions instead. */
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { forbidden, notFound } from '../http/api-error.js';
import type { Principal } from './principal.js';

/** @throws ApiError 403 */
export function requireKind(principal: Principal, kind: ConnectorKind): void {
  if (principal.type === 'session' && (principal.session.kind ?? kind) !== kind) {
    throw forbidden(`This session is for ${principal.session.kind}s only.`);
  }
}

/** @throws ApiError 403 */
export function requireType(principal: Principal, typeId: string): void {
  if (!coversType(principal, typeId)) throw forbidden('This session is for other connector types.');
}

/** @throws ApiError 403 for another connector than the one the session was made for */
export function requireConnector(principal: Principal, connectorId: string): void {
  if (principal.type === 'session' && (principal.session.connectorId ?? connectorId) !== connectorId) {
    throw forbidden('This session is for another connector.');
  }
}

/** @throws ApiError 403 when the session was made for one existing connector */
export function requireCreate(principal: Principal): void {
  if (principal.type === 'session' && principal.session.connectorId !== undefined) {
    throw forbidden('This session is for changing one connector, not for making others.');
  }
}

/** A connector whose type the session does not cover reads like an unknown one. @throws ApiError 404 */
export function requireCovered(principal: Principal, typeId: string): void {
  if (!coversType(principal, typeId)) throw notFound();
}

const coversType = (principal: Principal, typeId: string): boolean =>
  principal.type === 'key' || principal.session.typeIds === undefined || principal.session.typeIds.includes(typeId);
