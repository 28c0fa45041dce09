import { batchId, type Batch } from '../connector-api/batch.js';
import type { Clock } from '../connector-api/clock.js';
import type { Batching } from '../connector-api/output.js';
import { mergeBatches } from '../records/merged-batch.js';

/** Records of a source that are collected or being written. */
export interface Source {
  /** Id of the batch of the input. */
  readonly id: string;
  /** Records that are not written yet. */
  open: number;
  /** Called when all records are written. */
  finish(): void;
}

/** A batch to write, and how many of its records are from which source. */
export interface CollectedBatch {
  readonly batch: Batch;
  readonly sources: readonly (readonly [source: Source, records: number])[];
}

/** The records of a batch from index `from` on. */
interface Part {
  readonly batch: Batch;
  readonly from: number;
  readonly records: number;
  readonly bytes: number;
  readonly source: Source;
  /** When the batch was ingested, as in `Batch.at`. */
  readonly at: number | undefined;
}

export interface BatchCollectorOptions {
  /** Node id of the output. */
  nodeId: string;
  /** Absent: each batch is written on its own. */
  batching: Batching | undefined;
  clock: Pick<Clock, 'now'>;
}

/** Joins and splits the batches that reach an output, within the limits of its writes. */
export class BatchCollector {
  readonly #nodeId: string;
  readonly #batching: Batching | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #splits: boolean;
  readonly #maxRecords: number;
  readonly #maxBytes: number;
  #parts: Part[] = [];
  #records = 0;
  #bytes = 0;
  #since = 0;
  #lastTaken: number | undefined;

  constructor({ nodeId, batching, clock }: BatchCollectorOptions) {
    this.#nodeId = nodeId;
    this.#batching = batching;
    this.#clock = clock;
    this.#splits = batching !== undefined && batching.replaces !== true;
    this.#maxRecords = Math.max(1, batching?.records ?? 1);
    this.#maxBytes = Math.max(1, batching?.bytes ?? 1);
  }

  get isEmpty(): boolean {
    return this.#records === 0;
  }

  /** Bytes of JSON, counting one for the end of each record. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a limit is reached. */
  get isFull(): boolean {
    return this.#records >= this.#maxRecords || this.#bytes >= this.#maxBytes;
  }

  /**
   * Returns the milliseconds until the records should be written, 0 when a limit is reached, and
   * `undefined` when there are none.
   * @param now milliseconds since the epoch. Compare several results only for the same time
   */
  dueIn(now = this.#clock.now()): number | undefined {
    if (this.isEmpty) return undefined;
    if (!this.#batching || this.isFull) return 0;
    // The clock may have been set back.
    this.#since = Math.min(this.#since, now);
    if (this.#lastTaken !== undefined) this.#lastTaken = Math.min(this.#lastTaken, now);
    const from = this.#batching.waitFrom === 'write' ? this.#lastTaken : this.#since;
    return from === undefined ? 0 : Math.max(0, from + this.#batching.waitMs - now);
  }

  add(batch: Batch, source: Source, at?: number): void {
    const records = batch.lines.length;
    if (records === 0) return;
    if (this.isEmpty) this.#since = this.#clock.now();
    const bytes = batch.bytes + records;
    this.#parts.push({ batch, from: 0, records, bytes, source, at });
    this.#records += records;
    this.#bytes += bytes;
  }

  /** Removes and returns the next batch to write, or `undefined` if there are no records. */
  take(): CollectedBatch | undefined {
    const taken: Part[] = [];
    let records = 0;
    let bytes = 0;
    while (taken.length === 0 || (records < this.#maxRecords && bytes < this.#maxBytes)) {
      const part = this.#parts.shift();
      if (!part) break;
      const fits = records + part.records <= this.#maxRecords && bytes + part.bytes <= this.#maxBytes;
      const [next, rest] = fits || !this.#splits ? [part] : this.#split(part, records, bytes);
      if (rest) this.#parts.unshift(rest);
      if (!next) break;
      taken.push(next);
      records += next.records;
      bytes += next.bytes;
    }
    const [first] = taken;
    if (!first) return undefined;
    this.#records -= records;
    this.#bytes -= bytes;
    this.#since = this.#lastTaken = this.#clock.now();
    return { batch: this.#join(first, taken), sources: taken.map((part) => [part.source, part.records] as const) };
  }

  /**
   * Splits a part where a limit is reached. The first half has at least one record if the batch has
   * none yet.
   */
  #split(part: Part, records: number, bytes: number): [next: Part | undefined, rest: Part | undefined] {
    const { batch, from } = part;
    let count = 0;
    let size = 0;
    for (; count < part.records && records + count < this.#maxRecords; count += 1) {
      const more = Buffer.byteLength(batch.lines[from + count] ?? '') + 1;
      if (bytes + size + more > this.#maxBytes && records + count > 0) break;
      size += more;
    }
    if (count === 0) return [undefined, part];
    if (count === part.records) return [part, undefined];
    const rest = { ...part, from: from + count, records: part.records - count, bytes: part.bytes - size };
    return [{ ...part, records: count, bytes: size }, rest];
  }

  #join({ batch, at }: Part, parts: readonly Part[]): Batch {
    const batches = parts.map(batchOf);
    if (this.#batching?.replaces === true) return mergeBatches(batchId(this.#nodeId, batch.recordId(0)), batches, at);
    const [only] = batches;
    if (only && batches.length === 1) return only;
    // Covers all records: a destination may drop a batch with the same id as a duplicate.
    return mergeBatches(batchId(this.#nodeId, ...batches.map(({ id }) => id)), batches, at);
  }
}

const batchOf = ({ batch, from, records }: Part): Batch =>
  batch.pick(Array.from({ length: records }, (_, index) => from + index));
