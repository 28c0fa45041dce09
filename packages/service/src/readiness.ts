import type { Vault } from './secrets/vault.js';
import type { Store } from './store/store.js';

/** Whether this replica should get requests. */
export interface Readiness {
  /** Not ready from now on: it is being shut down. */
  stop(): void;
  /** `checks` says `ok`, or in a word what is wrong. */
  check(): Promise<{ ready: boolean; checks: Record<string, string> }>;
}

/** Milliseconds a check may take. */
const PATIENCE = 2_000;

/** @param schemaVersion the newest migration this release knows */
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
        database: schema === undefined ? 'no answer' : 'ok',
        schema: schema === undefined || schema === schemaVersion ? 'ok' : `version ${schema}, not ${schemaVersion}`,
        master_key: key === false ? 'another key is in use' : 'ok',
      };
      return { ready: Object.values(checks).every((check) => check === 'ok'), checks };
    },
  };
}

/** Undefined when the question fails or takes too long. */
async function within<T>(question: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, PATIENCE, undefined);
  });
  try {
    return await Promise.race([question, patience]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
