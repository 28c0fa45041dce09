import { ConnectorError } from '../connector-api/connector-error.js';
import { groupBy } from './group-by.js';
import { FolderLetters } from './folder-letters.js';
import type { StoredLetter } from './letter-lines.js';
import type { LetterStats, LetterStorage, NodeLetters } from './letter-storage.js';
import type { LetterBounds } from './letter-store.js';

export type { StoredLetter } from './letter-lines.js';
export type { LetterStats } from './letter-storage.js';

export interface DeadLetter {
  nodeId: string;
  /** Why it failed: a stable code or a short sentence written by us. */
  reason: string;
  recordId: string;
  /** JSON of the record. */
  line: string;
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
  readonly #storage: LetterStorage;
  readonly #options: DeadLettersOptions;
  readonly #waiters = new Set<() => void>();
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** @param storage where the letters are, or the folder of the pipeline */
  constructor(storage: string | LetterStorage, options: DeadLettersOptions) {
    this.#storage = typeof storage === 'string' ? new FolderLetters(storage, options, options.now) : storage;
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
        if (whenFull === 'block' && !(await store.hasRoomFor(letters))) throw new DeadLettersFullError(nodeId);
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
        if (!(await (await this.#open(nodeId)).hasRoomFor(letters))) return false;
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
    if (count > 0) this.#freed();
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
    if (count > 0) this.#freed();
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
    this.wake();
    if (count > 0) this.#storage.changed?.();
    return count;
  }

  /** Ends waits for redelivery: another process may have marked letters. */
  wake(): void {
    for (const wake of this.#waiters) wake();
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
      const { count, bytes } = await (await this.#open(id)).stats();
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
    await this.#storage.remove();
  }

  /** Ids of the nodes that have had dead letters, in alphabetical order. */
  nodeIds(): Promise<string[]> {
    return this.#storage.nodeIds();
  }

  #open(nodeId: string): Promise<NodeLetters> {
    return this.#storage.open(nodeId);
  }

  #freed(): void {
    this.#options.onFreed?.();
    this.#storage.changed?.();
  }

  async #each(
    ids: readonly string[],
    work: (store: NodeLetters, sequences: readonly number[]) => Promise<number>,
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

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new ConnectorError('closed', 'The pipeline is being restarted. Retry.');
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

function parseId(id: string): { nodeId: string; sequence: number } | undefined {
  const dot = id.lastIndexOf('.');
  const sequence = Number(id.slice(dot + 1));
  return dot > 0 && Number.isSafeInteger(sequence) ? { nodeId: id.slice(0, dot), sequence } : undefined;
}
