import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import { isSharedWith } from './resource-shares.js';
import type { ConnectorSecrets } from './store.js';
import { connectors, organizationSecrets, secrets } from './tables.js';

/** Joins the secret that a row refers to: one of the organization, or one that is shared with it. */
export const isReferredTo = and(
  eq(organizationSecrets.id, secrets.secretId),
  or(
    eq(organizationSecrets.organizationId, secrets.organizationId),
    isSharedWith(organizationSecrets.id, sql`${secrets.organizationId}`),
  ),
);

/**
 * Returns connectors with their secrets, ordered by id. One statement reads both: secrets
 * authenticate the settings beside them, so a change between two statements would look like
 * tampering.
 */
export async function readWithSecrets(queries: Queries, ids: readonly string[]): Promise<ConnectorSecrets[]> {
  if (ids.length === 0) return [];
  const rows = await queries
    .select({ connector: connectors, secret: secrets, shared: organizationSecrets })
    .from(connectors)
    .leftJoin(secrets, eq(secrets.connectorId, connectors.id))
    .leftJoin(organizationSecrets, isReferredTo)
    .where(inArray(connectors.id, [...ids]))
    .orderBy(connectors.id, secrets.id);
  const found = new Map<string, ConnectorSecrets>();
  for (const { connector, secret, shared } of rows) {
    const known = found.get(connector.id) ?? { connector, secrets: [] };
    if (secret) known.secrets.push({ ...secret, shared });
    found.set(connector.id, known);
  }
  return [...found.values()];
}
