import { rename, rm } from 'node:fs/promises';
import { LineFile } from '../files/line-file.js';

export interface DeadLetter {
  nodeId: string;
  /** Why nobody took it: a stable word or a short sentence of our own. */
  reason: string;
  recordId: string;
  /** JSON of the record. */
  line: string;
}

/**
 * Records that nobody could take, one JSON object a line: `at`, `node_id`, `reason`, `record_id`, `record`. Bounded: when
 * the file has grown to half of the bound it takes the place of the one before it, and the oldest are gone.
 */
export class DeadLetters {
  readonly #file: LineFile;

  /** @param path of the file; the one before it is `<path>.1` */
  constructor(
    readonly path: string,
    maxBytes: number,
    private readonly now: () => number,
  ) {
    this.#file = new LineFile(path, maxBytes / 2, (full) => rename(full, `${full}.1`));
  }

  /** On disk once it resolves. */
  add(letters: readonly DeadLetter[]): Promise<void> {
    const at = new Date(this.now()).toISOString();
    return this.#file.append(
      letters.map(({ nodeId, reason, recordId, line }) => {
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
