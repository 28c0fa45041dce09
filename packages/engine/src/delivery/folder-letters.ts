import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../files/is-errno.js';
import { isRecord } from '../connector-api/record.js';
import { groupBy } from './group-by.js';
import type { NewLetter } from './letter-lines.js';
import type { LetterStorage } from './letter-storage.js';
import { LetterStore, type LetterBounds } from './letter-store.js';

/** Dead letters of a pipeline in its folder. */
export class FolderLetters implements LetterStorage {
  readonly #folder: string;
  readonly #bounds: LetterBounds;
  readonly #now: () => number;
  readonly #stores = new Map<string, Promise<LetterStore>>();
  #migrated: Promise<void> | undefined;

  /** @param folder folder of the pipeline */
  constructor(folder: string, bounds: LetterBounds, now: () => number) {
    this.#folder = folder;
    this.#bounds = bounds;
    this.#now = now;
  }

  async nodeIds(): Promise<string[]> {
    await this.#migrate();
    const names = await readdir(this.#root).catch(ignoreMissing<string[]>([]));
    const stored = names.map((name) => decodeURIComponent(name));
    return [...new Set([...stored, ...this.#stores.keys()])].toSorted();
  }

  open(nodeId: string): Promise<LetterStore> {
    let store = this.#stores.get(nodeId);
    if (!store) {
      const folder = join(this.#root, encodeURIComponent(nodeId));
      const { maxBytes, maxCount } = this.#bounds;
      store = LetterStore.open(folder, nodeId, { maxBytes, maxCount }, this.#now);
      // A failed attempt must not be cached.
      store.catch(() => this.#stores.delete(nodeId));
      this.#stores.set(nodeId, store);
    }
    return store;
  }

  async remove(): Promise<void> {
    this.#stores.clear();
    await rm(this.#root, { recursive: true, force: true });
    for (const path of this.#legacy) await rm(path, { force: true });
  }

  get #root(): string {
    return join(this.#folder, 'dead-letters');
  }

  /** Files of releases before 035, in the order in which they were written. */
  get #legacy(): readonly string[] {
    const path = join(this.#folder, 'dead-letters.ndjson');
    return [`${path}.1`, path];
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
      for (const [nodeId, own] of groupBy(letters, (each) => each.nodeId)) await (await this.open(nodeId)).add(own);
      await rm(path, { force: true });
    }
  }
}

/**
 * Returns the dead letters in the folder of a pipeline that is not running.
 * @param now returns milliseconds since the epoch
 */
export const createFolderLetters = (folder: string, bounds: LetterBounds, now: () => number): LetterStorage =>
  new FolderLetters(folder, bounds, now);

const ignoreMissing =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isErrno(error, 'ENOENT')) return value;
    throw error;
  };

function parseLegacy(line: string): (NewLetter & { nodeId: string }) | undefined {
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
