import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectorError } from '../connector-api/connector-error.js';
import { isErrno } from '../files/is-errno.js';
import { isRecord } from '../connector-api/record.js';
import { groupBy } from './group-by.js';
import type { StoredLetter } from './letter-lines.js';
import { LetterStore, type LetterBounds } from './letter-store.js';

export type { StoredLetter } from './letter-lines.js';

export interface DeadLetter {
  nodeId: string;
  /** Why it failed: a stable code or a short sentence written by us. */
  reason: string;
  recordId: string;
  /** JSON of the record. */
  line: string;
}

/** Number of dead letters of a node, and the bytes of their lines. */
export interface LetterStats {
  count: number;
  bytes: number;
}

export interface DeadLettersOptions extends LetterBounds {
  /** `block`: `add` rejects when there is no space. `drop_oldest`: it deletes the oldest letters. */
  whenFull: 'block' | 'drop_oldest';
  /** Returns milliseconds since the epoch. */
  now: () => number;
  /** Called after letters were stored. */
  onStored?: (nodeId: string, count: number) => void;
  /** Called after letters were deleted on request or redelivered. */
  onFreed?: () => void;
  /** Called after letters were deleted to make space. */
  onDropped?: (nodeId: string, count: number) => void;
}

/** A node has no space for another dead letter, and its letters must not be dropped. */
export class DeadLettersFullError extends ConnectorError {
  readonly nodeId: string;
  constructor(nodeId: string) {
    super(
      'dead_letters_full',
      'The dead letters of this node are full, so its records wait. Replay or delete dead letters.',
    );
    this.nodeId = nodeId;
  }
}

/**
 * Stores the records of a pipeline that failed permanently, by node. Each node has its own bound, so
 * that one can't use up the space of another.
 */
export class DeadLetters {
  readonly #folder: string;
  readonly #options: DeadLettersOptions;
  readonly #stores = new Map<string, Promise<LetterStore>>();
  readonly #waiters = new Set<() => void>();
  #migrated: Promise<void> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** @param folder folder of the pipeline */
  constructor(folder: string, options: DeadLettersOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /**
   * Stores dead letters; they are synced to disk once this resolves.
   * @throws {DeadLettersFullError} before anything is stored
   */
  async add(entries: readonly DeadLetter[]): Promise<void> {
    return this.#serialize(async () => {
      const byNode = groupBy(entries, ({ nodeId }) => nodeId);
      const { whenFull, onStored, onDropped } = this.#options;
      for (const [nodeId, letters] of byNode) {
        const store = await this.#open(nodeId);
        if (whenFull === 'block' && !store.hasRoomFor(letters)) throw new DeadLettersFullError(nodeId);
      }
      for (const [nodeId, letters] of byNode) {
        const store = await this.#open(nodeId);
        await store.add(letters);
        onStored?.(nodeId, letters.length);
        const dropped = whenFull === 'drop_oldest' ? await store.dropOldest() : 0;
        if (dropped > 0) onDropped?.(nodeId, dropped);
      }
    });
  }

  /** Returns whether `add` would accept these entries now. */
  async hasRoomFor(entries: readonly DeadLetter[]): Promise<boolean> {
    return this.#serialize(async () => {
      if (this.#options.whenFull === 'drop_oldest') return true;
      for (const [nodeId, letters] of groupBy(entries, (each) => each.nodeId))
        if (!(await this.#open(nodeId)).hasRoomFor(letters)) return false;
      return true;
    });
  }

  /**
   * Returns dead letters, oldest first within a node, nodes in alphabetical order.
   * @param after id of the last letter of the previous page; it may have been deleted since
   */
  async list({ nodeId, after, limit }: { nodeId?: string; after?: string; limit: number }): Promise<StoredLetter[]> {
    const from = after === undefined ? undefined : parseId(after);
    const found: StoredLetter[] = [];
    for (const id of await this.nodeIds()) {
      if (found.length >= limit) break;
      if ((nodeId !== undefined && id !== nodeId) || (from && id < from.nodeId)) continue;
      const sequence = from?.nodeId === id ? from.sequence : 0;
      found.push(...(await (await this.#open(id)).list(sequence, limit - found.length)));
    }
    return found;
  }

  /** Returns one dead letter, or `undefined` if there is none with this id. */
  async get(id: string): Promise<StoredLetter | undefined> {
    const parsed = parseId(id);
    if (!parsed || !(await this.nodeIds()).includes(parsed.nodeId)) return undefined;
    const [letter] = await (await this.#open(parsed.nodeId)).list(parsed.sequence - 1, 1);
    return letter?.id === id ? letter : undefined;
  }

  /** Deletes letters by id. Returns how many there were. */
  async delete(ids: readonly string[]): Promise<number> {
    const count = await this.#each(ids, (store, sequences) => store.delete(sequences));
    if (count > 0) this.#options.onFreed?.();
    return count;
  }

  /** Deletes all letters of a node, or of every node. Returns how many there were. */
  async purge(nodeId?: string): Promise<number> {
    const count = await this.#serialize(async () => {
      let deleted = 0;
      for (const id of await this.nodeIds())
        if (nodeId === undefined || id === nodeId) deleted += await (await this.#open(id)).purge();
      return deleted;
    });
    if (count > 0) this.#options.onFreed?.();
    return count;
  }

  /**
   * Marks letters of a node for redelivery; durable once this resolves. Returns how many were
   * marked now.
   * @param ids absent: all letters of the node
   */
  async replay(nodeId: string, ids?: readonly string[]): Promise<number> {
    const sequences = ids?.flatMap((id) => parseId(id) ?? []).filter((each) => each.nodeId === nodeId);
    const count = await this.#serialize(async () => {
      if (!(await this.nodeIds()).includes(nodeId)) return 0;
      return (await this.#open(nodeId)).replay(sequences?.map(({ sequence }) => sequence));
    });
    for (const wake of this.#waiters) wake();
    return count;
  }

  /** Returns letters of a node that wait for redelivery, oldest first. */
  async replaying(nodeId: string, limit: number): Promise<StoredLetter[]> {
    if (!(await this.nodeIds()).includes(nodeId)) return [];
    return (await this.#open(nodeId)).replaying(limit);
  }

  /** Resolves when `replay` is called or `signal` is aborted. */
  waitForReplay(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiters.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#waiters.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /** Returns redelivered letters that were refused again to the dead letters. */
  async returnReplayed(letters: ReadonlyMap<string, string>): Promise<void> {
    await this.#each([...letters.keys()], async (store, sequences) => {
      const reasons = new Map(sequences.map((each) => [each, letters.get(`${store.nodeId}.${each}`) ?? '']));
      await store.returnReplayed(reasons);
      return reasons.size;
    });
  }

  /** Returns number and size of the dead letters, by node. Nodes without letters are left out. */
  async stats(): Promise<Record<string, LetterStats>> {
    const stats: Record<string, LetterStats> = {};
    for (const id of await this.nodeIds()) {
      const { count, bytes } = await this.#open(id);
      if (count > 0) stats[id] = { count, bytes };
    }
    return stats;
  }

  /** Completes the writes in progress and rejects later ones: another instance takes over. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue;
  }

  /** Deletes everything, also after `close`. */
  async remove(): Promise<void> {
    await this.close();
    this.#stores.clear();
    await rm(this.#root, { recursive: true, force: true });
    for (const path of this.#legacy) await rm(path, { force: true });
  }

  /** Ids of the nodes that have had dead letters, in alphabetical order. */
  async nodeIds(): Promise<string[]> {
    await this.#migrate();
    const names = await readdir(this.#root).catch(ignoreMissing<string[]>([]));
    const stored = names.map((name) => decodeURIComponent(name));
    return [...new Set([...stored, ...this.#stores.keys()])].toSorted();
  }

  get #root(): string {
    return join(this.#folder, 'dead-letters');
  }

  /** Files of releases before 035, in the order in which they were written. */
  get #legacy(): readonly string[] {
    const path = join(this.#folder, 'dead-letters.ndjson');
    return [`${path}.1`, path];
  }

  #open(nodeId: string): Promise<LetterStore> {
    let store = this.#stores.get(nodeId);
    if (!store) {
      const { maxBytes, maxCount, now } = this.#options;
      const folder = join(this.#root, encodeURIComponent(nodeId));
      store = LetterStore.open(folder, nodeId, { maxBytes, maxCount }, now);
      // A failed attempt must not be cached.
      store.catch(() => this.#stores.delete(nodeId));
      this.#stores.set(nodeId, store);
    }
    return store;
  }

  async #each(
    ids: readonly string[],
    work: (store: LetterStore, sequences: readonly number[]) => Promise<number>,
  ): Promise<number> {
    return this.#serialize(async () => {
      const known = new Set(await this.nodeIds());
      const parsed = ids.flatMap((id) => parseId(id) ?? []).filter(({ nodeId }) => known.has(nodeId));
      let count = 0;
      for (const [nodeId, letters] of groupBy(parsed, (each) => each.nodeId)) {
        const sequences = letters.map(({ sequence }) => sequence);
        count += await work(await this.#open(nodeId), sequences);
      }
      return count;
    });
  }

  #migrate(): Promise<void> {
    this.#migrated ??= this.#moveLegacy();
    this.#migrated.catch(() => (this.#migrated = undefined));
    return this.#migrated;
  }

  /** Moves the letters of earlier releases. A crash in between repeats the file, which may duplicate. */
  async #moveLegacy(): Promise<void> {
    for (const path of this.#legacy) {
      const text = await readFile(path, 'utf8').catch(ignoreMissing<undefined>(undefined));
      if (text === undefined) continue;
      const letters = text.split('\n').flatMap((line) => parseLegacy(line) ?? []);
      for (const [nodeId, own] of groupBy(letters, (each) => each.nodeId)) await (await this.#open(nodeId)).add(own);
      await rm(path, { force: true });
    }
  }

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new ConnectorError('closed', 'The pipeline is being restarted. Retry.');
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

const ignoreMissing =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isErrno(error, 'ENOENT')) return value;
    throw error;
  };

function parseId(id: string): { nodeId: string; sequence: number } | undefined {
  const dot = id.lastIndexOf('.');
  const sequence = Number(id.slice(dot + 1));
  return dot > 0 && Number.isSafeInteger(sequence) ? { nodeId: id.slice(0, dot), sequence } : undefined;
}

function parseLegacy(line: string): (DeadLetter & { at?: number }) | undefined {
  try {
    const letter: unknown = JSON.parse(line);
    if (!isRecord(letter)) return undefined;
    const { at, node_id: nodeId, reason, record_id: recordId } = letter;
    if (typeof nodeId !== 'string' || typeof reason !== 'string' || typeof recordId !== 'string') return undefined;
    // Keeps the text of the record, with all digits of its numbers.
    const start = line.indexOf(',"record":') + ',"record":'.length;
    const time = typeof at === 'string' ? Date.parse(at) : Number.NaN;
    return { nodeId, reason, recordId, line: line.slice(start, -1), ...(Number.isFinite(time) && { at: time }) };
  } catch {
    // Half a line of a crash.
    return undefined;
  }
}
