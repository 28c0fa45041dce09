import type { ConnectorKind } from '@connector-frame/catalog/types';
import { forbidden, notFound, type ApiError } from '../api-error.js';
import type { Principal } from '../auth/principal.js';
import type { ReadTables } from '../store/store.js';

/**
 * Creates the error for a connector that the organization does not own: 403 if it can use it, so that
 * its people know whom to ask, otherwise 404. Sessions do not see what others share.
 */
export async function notOwned(
  { connectors }: Pick<ReadTables, 'connectors'>,
  organizationId: string,
  kind: ConnectorKind,
  id: string,
  principal?: Principal,
): Promise<ApiError> {
  if (principal?.type === 'session' || !(await connectors.shared(organizationId, kind, id))) return notFound();
  return forbidden(`Another organization shares this ${kind}. Only its owner can see its settings and change it.`);
}
