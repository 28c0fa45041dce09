import { rename, rm } from 'node:fs/promises';
import { LineFile } from '../files/line-file.js';

export interface DeadLetter {
  nodeId: string;
  /** Why it failed: a stable code or a short sentence written by us. */
  reason: string;
  recordId: string;
  /** JSON of the record. */
  line: string;
}

/**
 * Stores records that failed permanently, one JSON object per line: `at`, `node_id`, `reason`,
 * `record_id`, `record`. The size is bounded: when the file reaches half the limit, it replaces the
 * previous file, which drops the oldest records.
 */
export class DeadLetters {
  readonly path: string;
  readonly #now: () => number;
  readonly #file: LineFile;

  /**
   * @param path path of the file; the previous one is `<path>.1`
   * @param maxBytes limit in bytes for both files together
   * @param now returns milliseconds since the epoch
   */
  constructor(path: string, maxBytes: number, now: () => number) {
    this.path = path;
    this.#now = now;
    this.#file = new LineFile(path, maxBytes / 2, (full) => rename(full, `${full}.1`));
  }

  /** Appends dead letters; they are synced to disk once this resolves. */
  add(entries: readonly DeadLetter[]): Promise<void> {
    const at = new Date(this.#now()).toISOString();
    return this.#file.append(
      entries.map(({ nodeId, reason, recordId, line }) => {
        const about = JSON.stringify({ at, node_id: nodeId, reason, record_id: recordId });
        return `${about.slice(0, -1)},"record":${line}}`;
      }),
    );
  }

  async remove(): Promise<void> {
    await this.#file.append([]);
    for (const path of [this.path, `${this.path}.1`]) await rm(path, { force: true });
  }
}
