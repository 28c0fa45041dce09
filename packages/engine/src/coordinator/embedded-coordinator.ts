import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import type { Committed, Coordinator, Cursor, Desired, Lease, Report } from './coordinator.js';
import type { Store } from './store.js';

export interface EmbeddedCoordinatorOptions {
  store: Store;
  /**
   * Returns the current time in milliseconds since the epoch. Default: the system clock. Processes
   * that share a store must use the same clock.
   */
  now?: () => number;
}

/**
 * Creates a coordinator on top of a store with compare-and-set. It keeps no state of its own, so
 * several processes may share one store.
 *
 * @example
 * ```ts
 * const store = createFileStore('/var/lib/connector-frame/state');
 * const coordinator = createEmbeddedCoordinator({ store });
 * const lease = await coordinator.acquire('pipeline-1', 'worker-1', 10_000);
 * ```
 */
export function createEmbeddedCoordinator({ store, now = Date.now }: EmbeddedCoordinatorOptions): Coordinator {
  return new EmbeddedCoordinator(store, now);
}

type Kind = 'lease' | 'cursor' | 'desired' | 'report';

class EmbeddedCoordinator implements Coordinator {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  acquire(key: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    return this.#change(rowKey('lease', key), (row) => {
      const held = leaseIn(key, row);
      if (held && held.holder !== holder && this.#isActive(held)) return { result: undefined };
      const lease = { key, holder, token: tokenIn(row) + 1, expiresAt: this.#now() + ttlMs };
      return { result: lease, row: rowOf(lease) };
    });
  }

  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    return this.#change(rowKey('lease', lease.key), (row) => {
      const held = leaseIn(lease.key, row);
      if (!held || held.token !== lease.token || !this.#isActive(held)) return { result: undefined };
      const longer = { ...held, expiresAt: this.#now() + ttlMs };
      return { result: longer, row: rowOf(longer) };
    });
  }

  release(lease: Lease): Promise<void> {
    return this.#change(rowKey('lease', lease.key), (row) => {
      if (tokenIn(row) !== lease.token) return { result: undefined };
      // Keeps the token so that the next one is higher.
      return { result: undefined, row: { token: lease.token } };
    });
  }

  async holder(key: string): Promise<Lease | undefined> {
    const held = leaseIn(key, recordIn(await this.#store.get(rowKey('lease', key))));
    return held && this.#isActive(held) ? held : undefined;
  }

  async openCursor(lease: Lease, key: string): Promise<Cursor | undefined> {
    if (!(await this.#isHeld(lease))) return undefined;
    return this.#change(rowKey('cursor', key), (row) => {
      if (tokenIn(row) > lease.token) return { result: undefined };
      const cursor = cursorIn(row);
      return { result: cursor, row: { ...row, version: cursor.version, token: lease.token } };
    });
  }

  async commitCursor(lease: Lease, key: string, version: number, value: JsonValue): Promise<Committed> {
    if (!(await this.#isHeld(lease))) return { ok: false, reason: 'fenced' };
    return this.#change<Committed>(rowKey('cursor', key), (row) => {
      if (tokenIn(row) > lease.token) return { result: { ok: false, reason: 'fenced' } };
      if (cursorIn(row).version !== version) return { result: { ok: false, reason: 'conflict' } };
      return { result: { ok: true, version: version + 1 }, row: { token: lease.token, version: version + 1, value } };
    });
  }

  async desired(key: string): Promise<Desired | undefined> {
    return desiredIn(recordIn(await this.#store.get(rowKey('desired', key))));
  }

  setDesired(key: string, enabled: boolean): Promise<Desired> {
    return this.#change(rowKey('desired', key), (row) => {
      const before = desiredIn(row);
      if (before?.enabled === enabled) return { result: before };
      const desired = { enabled, revision: (before?.revision ?? 0) + 1 };
      return { result: desired, row: desired };
    });
  }

  async report(lease: Lease, key: string, value: JsonValue): Promise<boolean> {
    if (!(await this.#isHeld(lease))) return false;
    return this.#change(rowKey('report', key), (row) => {
      if (tokenIn(row) > lease.token) return { result: false };
      return { result: true, row: { token: lease.token, holder: lease.holder, at: this.#now(), value } };
    });
  }

  async reported(key: string): Promise<Report | undefined> {
    const row = recordIn(await this.#store.get(rowKey('report', key)));
    if (!row || typeof row['at'] !== 'number' || typeof row['holder'] !== 'string') return undefined;
    return { at: row['at'], holder: row['holder'], value: row['value'] ?? null };
  }

  async forget(key: string): Promise<void> {
    const kinds: readonly Kind[] = ['lease', 'cursor', 'desired', 'report'];
    for (const kind of kinds) await this.#store.removeAll(rowKey(kind, key));
  }

  #isActive(lease: Lease): boolean {
    return lease.expiresAt > this.#now();
  }

  async #isHeld(lease: Lease): Promise<boolean> {
    const held = await this.holder(lease.key);
    return held?.token === lease.token;
  }

  /**
   * Reads a row, computes the change, writes it; retries from the start if the row changed
   * concurrently.
   */
  async #change<T>(key: string, update: (row: DataRecord | undefined) => { result: T; row?: DataRecord }): Promise<T> {
    for (;;) {
      const stored = await this.#store.get(key);
      const { result, row } = update(recordIn(stored));
      if (!row || (await this.#store.compareAndSet(key, stored?.version ?? 0, row)) !== undefined) return result;
    }
  }
}

/**
 * Row keys end with `/`, so that `forget` removes a key and its children but no key that merely
 * shares the prefix.
 */
function rowKey(kind: Kind, key: string): string {
  if (!/^[\w.:/-]{1,200}$/.test(key)) throw new TypeError(`${JSON.stringify(key)} can't be a key.`);
  return `${kind}:${key}/`;
}

const recordIn = (stored: { value: JsonValue } | undefined): DataRecord | undefined =>
  stored && isRecord(stored.value) ? stored.value : undefined;

const tokenIn = (row: DataRecord | undefined): number => (typeof row?.['token'] === 'number' ? row['token'] : 0);

const rowOf = ({ holder, token, expiresAt }: Lease): DataRecord => ({ holder, token, expires_at: expiresAt });

function leaseIn(key: string, row: DataRecord | undefined): Lease | undefined {
  const { holder, expires_at: expiresAt } = row ?? {};
  if (typeof holder !== 'string' || typeof expiresAt !== 'number') return undefined;
  return { key, holder, token: tokenIn(row), expiresAt };
}

function cursorIn(row: DataRecord | undefined): Cursor {
  const version = typeof row?.['version'] === 'number' ? row['version'] : 0;
  return row?.['value'] === undefined ? { version } : { version, value: row['value'] };
}

function desiredIn(row: DataRecord | undefined): Desired | undefined {
  const { enabled, revision } = row ?? {};
  return typeof enabled === 'boolean' && typeof revision === 'number' ? { enabled, revision } : undefined;
}
