import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord, type JsonValue, type Store, type Stored } from '@connector-frame/engine';
import type { EngineState } from '../../store/engine-state.js';

/** State store of the one process that runs pipelines. */
export interface EngineStore extends Store {
  /** Writes the reports that have changed since the last flush. */
  flush(): Promise<void>;
  /**
   * Returns the reports that were written, or read for the first time, since the last call, by
   * pipeline id.
   */
  takeReports(): Map<string, JsonValue>;
}

/** Reports per SQL statement. */
const MAX_CONCURRENT = 100;
/**
 * Tokens reserved per process: how often one process may acquire the lease of one pipeline before
 * its tokens overlap those of the next process.
 */
const TOKENS_PER_PROCESS = 2 ** 20;

/**
 * Creates the store behind the coordinator of the embedded engine. Cursors are in the database once
 * they are committed. Leases and desired state belong to this process alone and stay in memory;
 * reports are written behind. Fencing tokens are higher than those of every earlier process, so an
 * earlier process can no longer move a cursor.
 * @param epoch increases with every process that holds the engine
 */
export function createEngineStore(durable: EngineState, epoch: number): EngineStore {
  const cursors = new Map<string, Stored>();
  const reports = new Map<string, Stored>();
  const own = new Map<string, Stored>();
  const changed = new Set<string>();
  const written = new Map<string, JsonValue>();
  const first: Stored = { version: 1, value: { token: epoch * TOKENS_PER_PROCESS } };
  let turn = Promise.resolve();

  /** Serializes flushes and removals. */
  function serialize(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  /** Returns the cached value, or reads it from the database. */
  async function read(memory: Map<string, Stored>, key: string): Promise<Stored | undefined> {
    const known = memory.get(key);
    if (known) return known;
    const stored = await durable.get(key);
    const meanwhile = memory.get(key);
    if (meanwhile) return meanwhile;
    if (stored) memory.set(key, stored);
    if (stored && memory === reports) written.set(key, stored.value);
    return stored;
  }

  async function setCursor(key: string, version: number, value: JsonValue): Promise<number | undefined> {
    const next = await durable.compareAndSet(key, version, value);
    if (next === undefined) cursors.delete(key);
    else cursors.set(key, { version: next, value });
    return next;
  }

  function setInMemory(
    memory: Map<string, Stored>,
    key: string,
    version: number,
    value: JsonValue,
  ): number | undefined {
    const known = memory.get(key) ?? (key.startsWith('lease:') ? first : undefined);
    if ((known?.version ?? 0) !== version) return undefined;
    memory.set(key, { version: version + 1, value });
    return version + 1;
  }

  async function write(keys: readonly string[]): Promise<void> {
    const values = new Map<string, JsonValue>();
    for (const key of keys) {
      const report = reports.get(key);
      if (report) values.set(key, report.value);
      changed.delete(key);
    }
    try {
      await durable.put(values);
    } catch (error) {
      for (const key of keys) if (reports.has(key)) changed.add(key);
      throw error;
    }
    for (const [key, value] of values) written.set(key, value);
    // PGlite runs on this thread; yield to other tasks.
    await nextTurn();
  }

  return {
    async get(key) {
      if (key.startsWith('cursor:')) return read(cursors, key);
      if (key.startsWith('report:')) return read(reports, key);
      return own.get(key) ?? (key.startsWith('lease:') ? first : undefined);
    },

    async compareAndSet(key: string, version: number, value: JsonValue) {
      if (key.startsWith('cursor:')) return setCursor(key, version, value);
      if (!key.startsWith('report:')) return setInMemory(own, key, version, value);
      const before = reports.get(key);
      const next = setInMemory(reports, key, version, value);
      if (next !== undefined && serializeReport(before?.value) !== serializeReport(value)) changed.add(key);
      return next;
    },

    removeAll(prefix) {
      return serialize(async () => {
        own.delete(prefix);
        reports.delete(prefix);
        changed.delete(prefix);
        written.delete(prefix);
        // Only cursors have more than one row per pipeline.
        if (prefix.startsWith('cursor:'))
          for (const key of cursors.keys()) if (key.startsWith(prefix)) cursors.delete(key);
        if (prefix.startsWith('cursor:') || prefix.startsWith('report:')) await durable.removeAll(prefix);
      });
    },

    flush() {
      return serialize(async () => {
        const keys = [...changed];
        for (let from = 0; from < keys.length; from += MAX_CONCURRENT)
          await write(keys.slice(from, from + MAX_CONCURRENT));
      });
    },

    takeReports() {
      const taken = new Map([...written].map(([key, value]) => [key.slice('report:'.length, -1), value]));
      written.clear();
      return taken;
    },
  };
}

/** Serializes a report without its timestamp, to detect changes. */
function serializeReport(report: JsonValue | undefined): string {
  return isRecord(report) ? JSON.stringify([report['holder'], report['value']]) : '';
}
