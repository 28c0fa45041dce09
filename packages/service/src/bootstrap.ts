import { serviceAuthor } from './audit/author.js';
import { recordWrites } from './audit/record-writes.js';
import { newApiKey } from './auth/api-key.js';
import { newOrganization } from './auth/new-organization.js';
import { defaultRoles, type Grant } from './permissions.js';
import { systemClock, type Clock } from './clock.js';
import type { Vault } from './secrets/vault.js';
import type { ApiKey, Store, Tables } from './store/store.js';

export interface BootstrapOptions {
  /** Name of the parent organization. It is created if it does not exist. */
  organization: string;
  /** Names of its teams. Missing teams are created. */
  teams?: readonly string[];
  /** An API key chosen by the operator. If absent, a new key is generated. */
  apiKey?: string;
  /** Name of the key. A new key replaces the active keys with this name. Default `bootstrap`. */
  keyName?: string;
  /** Whether the key may also do what only the operator may. Default true. */
  operator?: boolean;
  /** Permissions of the key, or sets of them. Default: the role Admin. */
  permissions?: readonly Grant[];
  /**
   * Origins of pages that may embed frames of this organization and its teams. They are added to
   * the existing origins.
   */
  allowedOrigins?: readonly string[];
}

export interface Bootstrapped {
  organizationId: string;
  /** The key in plain text. A generated key is not stored and cannot be read again. */
  apiKey: string;
  apiKeyId: string;
  /** Team ids by name. */
  teams: Record<string, string>;
}

/**
 * Ensures that a parent organization, its teams and an API key exist. Safe to run at every start,
 * also on several replicas at once. Existing organizations are kept. Without `apiKey`, each call
 * generates a key that replaces the previous one.
 *
 * @throws Error if `apiKey` was revoked or belongs to another organization
 * @example
 * ```ts
 * const { teams, apiKey } = await bootstrap(
 *   { store, secrets: vault },
 *   { organization: 'Northwind', teams: ['Acme'] },
 * );
 * ```
 */
export async function bootstrap(
  { store, secrets, clock = systemClock }: { store: Store; secrets: Vault; clock?: Clock },
  options: BootstrapOptions,
): Promise<Bootstrapped> {
  const run = (work: (tables: Tables) => Promise<Bootstrapped>): Promise<Bootstrapped> =>
    store.exclusive('bootstrap', (tables) =>
      recordWrites(tables, serviceAuthor('bootstrap'), new Date(clock.now()), work),
    );
  return run(async (tables) => {
    const tools = { tables, vault: secrets, clock };
    const parent =
      (await tables.organizations.named(options.organization)) ??
      (await newOrganization({ name: options.organization }, tools));
    const missing = (options.allowedOrigins ?? []).filter((origin) => !parent.allowedOrigins.includes(origin));
    if (missing.length > 0) {
      const allowedOrigins = [...parent.allowedOrigins, ...missing];
      await tables.organizations.lock(parent.id);
      await tables.organizations.update(parent.id, { allowedOrigins }, new Date(clock.now()));
    }
    const teams: Record<string, string> = {};
    for (const name of options.teams ?? []) {
      const team =
        (await tables.organizations.named(name, parent.id)) ??
        (await newOrganization({ name, parentId: parent.id }, tools));
      teams[name] = team.id;
    }
    return { organizationId: parent.id, teams, ...(await provideKey(tables, secrets, clock, parent.id, options)) };
  });
}

/** Marks a configured key that an earlier release created as a key of the operator. */
async function makeOperator(tables: Tables, organizationId: string, { id, isOperator }: ApiKey): Promise<void> {
  const key = isOperator ? undefined : await tables.apiKeys.lock(organizationId, id);
  if (!key) return;
  const { roleName: _name, rolePermissions: _permissions, ...stored } = key;
  await tables.apiKeys.update({ ...stored, isOperator: true });
}

async function provideKey(
  tables: Tables,
  vault: Vault,
  clock: Clock,
  organizationId: string,
  { apiKey, keyName = 'bootstrap', operator = true, permissions }: BootstrapOptions,
): Promise<{ apiKey: string; apiKeyId: string }> {
  if (apiKey !== undefined) {
    const known = await tables.apiKeys.byDigest(vault.digest('api-key', apiKey));
    if (known && (known.organizationId !== organizationId || known.revokedAt !== null)) {
      throw new Error('The given API key was revoked or belongs to another organization. Use another key.');
    }
    if (known) {
      if (operator) await makeOperator(tables, organizationId, known);
      return { apiKey, apiKeyId: known.id };
    }
  }
  const now = new Date(clock.now());
  const { rows } = await tables.apiKeys.list(organizationId, { limit: 1_000, offset: 0 });
  for (const { id, name, revokedAt } of rows) {
    const key = name === keyName && revokedAt === null ? await tables.apiKeys.lock(organizationId, id) : undefined;
    if (!key) continue;
    const { roleName: _name, rolePermissions: _permissions, ...stored } = key;
    await tables.apiKeys.update({ ...stored, revokedAt: now, updatedAt: now });
  }
  const { row, text } = newApiKey(
    {
      organizationId,
      name: keyName,
      access: permissions ? { permissions } : { roleId: defaultRoles.admin.id },
      createdBy: { type: 'service', id: 'bootstrap', name: 'bootstrap' },
      isOperator: operator,
      ...(apiKey === undefined ? {} : { text: apiKey }),
    },
    vault,
    clock,
  );
  await tables.apiKeys.insert(row);
  return { apiKey: text, apiKeyId: row.id };
}
