import type { Vault } from './secrets/vault.js';
import type { Store } from './store/store.js';

/** Reports whether this replica should receive requests. */
export interface Readiness {
  /** Marks the replica as permanently not ready, because it is shutting down. */
  stop(): void;
  /** Runs the checks. Each one reports `ok`, or in a few words what is wrong. */
  check(): Promise<{ ready: boolean; checks: Record<string, string> }>;
}

/** Timeout of a check, in milliseconds. */
const TIMEOUT_MS = 2_000;

/**
 * Creates the readiness checks.
 * @param schemaVersion the newest migration that this release contains
 */
export function createReadiness(store: Store, vault: Vault, schemaVersion: number): Readiness {
  let stopping = false;
  return {
    stop() {
      stopping = true;
    },

    async check() {
      if (stopping) return { ready: false, checks: { process: 'stopping' } };
      const [schema, key] = await Promise.all([within(store.schemaVersion()), within(vault.check(store))]);
      const checks = {
        database: schema === undefined ? 'no response' : 'ok',
        schema: schema === undefined || schema === schemaVersion ? 'ok' : `version ${schema}, not ${schemaVersion}`,
        master_key: key === false ? 'another key is in use' : 'ok',
      };
      return { ready: Object.values(checks).every((check) => check === 'ok'), checks };
    },
  };
}

/** Resolves with `undefined` if the promise rejects or takes too long. */
async function within<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, undefined);
  });
  try {
    return await Promise.race([promise, timeout]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
