import type { Logger } from 'pino';
import { createSessionTokens, type SessionTokens } from './auth/session-tokens.js';
import { createUserTokens, type UserTokens } from './auth/user-tokens.js';
import type { Clock } from './clock.js';
import type { Env } from './env.js';
import { createKeyFile, readKeyFile } from './secrets/key-file.js';
import type { MasterKey } from './secrets/master-key.js';
import { checkMasterKey, MasterKeyError, openVault, type Vault } from './secrets/vault.js';
import { createStore } from './store/create-store.js';
import type { Database } from './store/database.js';
import { loadMigrations, migrate } from './store/migrate.js';
import { openDatabase, requiredMasterKeyIds } from './store/open-database.js';
import type { Store } from './store/store.js';

/** The parts that everything else in the service depends on. */
export interface Core {
  database: Database;
  store: Store;
  vault: Vault;
  sessions: SessionTokens;
  userTokens: UserTokens;
  schemaVersion: number;
}

type CoreEnv = Pick<Env, 'DATABASE_URL' | 'DATA_DIR' | 'POSTGRES_PREVIOUS' | 'MASTER_KEY' | 'MASTER_KEY_PREVIOUS'>;

/**
 * Opens the database, the vault and the session tokens. Checks the master key before anything is
 * written.
 * @throws FolderInUseError, FolderNotPrivateError, MasterKeyError
 */
export async function openCore(env: CoreEnv, clock: Clock, log: Logger): Promise<Core> {
  const database = await openDatabase(
    { url: env.DATABASE_URL, folder: env.DATA_DIR, previousPostgres: env.POSTGRES_PREVIOUS },
    log,
  );
  try {
    const requiredIds = await requiredMasterKeyIds(database);
    const previous = env.MASTER_KEY_PREVIOUS;
    const current =
      env.MASTER_KEY ?? (env.DATABASE_URL === undefined ? await embeddedKey(env.DATA_DIR, requiredIds) : undefined);
    checkMasterKey(requiredIds, { ...(current ? { current } : {}), ...(previous ? { previous } : {}) });
    if (!current) {
      throw new MasterKeyError(
        'MASTER_KEY is not set. Create one with: openssl rand -base64 32. Back it up: without it, no secret can be decrypted.',
      );
    }
    const migrations = await loadMigrations();
    await migrate(database, migrations);
    const store = createStore(database);
    const vault = await openVault(store, { current, ...(previous ? { previous } : {}) }, clock);
    const keysFor = (purpose: string): [Buffer, ...Buffer[]] => [
      current.derive(purpose),
      ...(previous ? [previous.derive(purpose)] : []),
    ];
    const sessions = createSessionTokens(keysFor('sessions'), clock);
    const userTokens = createUserTokens(keysFor('users'), clock);
    return { database, store, vault, sessions, userTokens, schemaVersion: migrations.at(-1)?.version ?? 0 };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Returns the key of the embedded database. Only a new database gets a new key. */
async function embeddedKey(folder: string, requiredIds: readonly string[]): Promise<MasterKey | undefined> {
  const known = await readKeyFile(folder);
  return known ?? (requiredIds.length === 0 ? createKeyFile(folder) : undefined);
}
