import type { Vault } from './secrets/vault.js';
import type { Store } from './store/store.js';

/** One named check of a replica. */
export interface ReadinessCheck {
  /** Key in the response of `/readyz`: `database`. */
  name: string;
  /**
   * Whether the replica is not ready if the check fails. Otherwise it is degraded: it still receives
   * requests, and some of them fail.
   */
  required: boolean;
  /**
   * Returns `ok`, or in a few words what is wrong. A check that rejects or takes longer than two
   * seconds has no response.
   */
  run(): Promise<string> | string;
}

/**
 * `unavailable`: a required check failed, or the replica is shutting down. Each check is `ok`, or in
 * a few words what is wrong.
 */
export interface ReadinessReport {
  status: 'ok' | 'degraded' | 'unavailable';
  checks: Record<string, string>;
}

/** Reports whether this replica should receive requests. */
export interface Readiness {
  /** Marks the replica as permanently not ready, because it is shutting down. */
  stop(): void;
  /** Runs the checks concurrently. Never rejects. */
  check(): Promise<ReadinessReport>;
}

/** Timeout of a check, in milliseconds. */
const TIMEOUT_MS = 2_000;

/**
 * Creates the readiness of a replica from its checks.
 *
 * @example
 * ```ts
 * const readiness = createReadiness([
 *   ...databaseChecks(store, vault, schemaVersion),
 *   { name: 'disk', required: false, run: () => (isFull() ? 'full' : 'ok') },
 * ]);
 * ```
 */
export function createReadiness(checks: readonly ReadinessCheck[]): Readiness {
  let stopping = false;
  return {
    stop() {
      stopping = true;
    },

    async check() {
      if (stopping) return { status: 'unavailable', checks: { process: 'stopping' } };
      const results = await Promise.all(checks.map(async (check) => ({ check, result: await runCheck(check) })));
      const failed = results.filter(({ result }) => result !== 'ok');
      const isUnavailable = failed.some(({ check }) => check.required);
      return {
        status: isUnavailable ? 'unavailable' : failed.length > 0 ? 'degraded' : 'ok',
        checks: Object.fromEntries(results.map(({ check, result }) => [check.name, result])),
      };
    },
  };
}

/**
 * Returns the checks of the database. Without it, the API responds 503, so all of them are required.
 * @param schemaVersion the newest migration that this release contains
 */
export function databaseChecks(store: Store, vault: Vault, schemaVersion: number): ReadinessCheck[] {
  return [
    {
      name: 'database',
      required: true,
      run: async () => {
        await store.schemaVersion();
        return 'ok';
      },
    },
    {
      name: 'schema',
      required: true,
      run: async () => {
        const version = await store.schemaVersion();
        return version === schemaVersion ? 'ok' : `version ${version}, not ${schemaVersion}`;
      },
    },
    {
      name: 'master_key',
      required: true,
      run: async () => ((await vault.check(store)) ? 'ok' : 'another key is in use'),
    },
  ];
}

async function runCheck(check: ReadinessCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, 'no response');
  });
  try {
    return await Promise.race([check.run(), timeout]);
  } catch {
    return 'no response';
  } finally {
    clearTimeout(timer);
  }
}
