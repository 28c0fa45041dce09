import type { ConnectorKind } from '@connector-frame/catalog/types';
import { forbidden } from '../api-error.js';
import { hasPermission, requirePermissions } from '../auth/key-permissions.js';
import type { Principal } from '../auth/principal.js';

/**
 * Requires that a caller may override connectors of a kind: for the pipeline, that is a change of the
 * connector.
 * @param isOn whether the operator allows overrides
 * @throws ApiError 403
 */
export function requireMayOverride(kind: ConnectorKind, principal: Principal, isOn: boolean): void {
  if (!isOn) throw forbidden('The operator does not allow new overrides of connectors: CONFIG_OVERRIDES is off.');
  requirePermissions(principal, [`${kind}:write`], `To override an ${kind}, the caller lacks the permission`);
}

/** Returns whether a caller may see the configuration of connectors of a kind. */
export const readerOf =
  (principal: Principal) =>
  (kind: ConnectorKind): boolean =>
    hasPermission(principal, `${kind}:read`);
