import { isRecord, type JsonValue } from '../../connector-api/record.js';
import type { FileHandlePool } from '../../files/idle-file.js';
import type { Waiting } from '../bus.js';
import { SlotFile } from './slot-file.js';

/** Consecutive batches of a stream. Ends are exclusive. */
export interface BatchRange {
  /** Sequences. */
  first: number;
  end: number;
  /** Byte offsets in the stream. */
  from: number;
  to: number;
  /** Records of the stream before the first batch, and up to the last one. */
  recordsBefore: number;
  records: number;
}

/** Bytes of each slot of the file. A range takes at most 110 bytes of JSON. */
const SLOT_BYTES = 4096;
/** While a consumer has this many ranges, it drops until its backlog has passed one of them. */
const MAX_RANGES = 30;
/** Fraction of the budget below which dropping ends, so that ranges are few and long. */
const RESUME = 7 / 8;

/**
 * The batches that one consumer does not receive because its backlog exceeded its budget: those
 * that are ahead of its position, and counts of all. They are saved before a batch counts as
 * published.
 */
export class DroppedBatches {
  readonly total: Waiting = { batches: 0, records: 0, bytes: 0 };
  #ranges: BatchRange[] = [];
  #dropping = false;
  #file: SlotFile | undefined;

  /** @param isNew the file does not exist */
  static async open(path: string, files: FileHandlePool, isNew: boolean): Promise<DroppedBatches> {
    const dropped = new DroppedBatches();
    dropped.#file = await SlotFile.open(
      path,
      SLOT_BYTES,
      files,
      () => dropped.#toJson(),
      (saved) => dropped.#load(saved),
      isNew,
    );
    return dropped;
  }

  get ranges(): readonly BatchRange[] {
    return this.#ranges;
  }

  /** New batches are being dropped. */
  get dropping(): boolean {
    return this.#dropping;
  }

  /**
   * Decides whether the next batch is dropped.
   * @param backlog bytes the consumer has not acknowledged, without those dropped
   */
  shouldDrop(backlog: number, bytes: number, maxBytes: number): boolean {
    const resumes = this.#dropping && backlog <= maxBytes * RESUME && this.#ranges.length < MAX_RANGES;
    if (resumes) this.#dropping = false;
    // A batch larger than the whole budget is kept when the backlog is empty.
    if (!this.#dropping && backlog > 0 && backlog + bytes > maxBytes) this.#dropping = true;
    return this.#dropping;
  }

  /** Ends an episode if the backlog has shrunk. Call it when the consumer has advanced. */
  update(backlog: number, maxBytes: number): void {
    this.shouldDrop(backlog, 0, maxBytes);
  }

  /** Drops nothing from now on, because the policy has changed. */
  stop(): void {
    this.#dropping = false;
  }

  /** Counts dropped batches. `range` is absent if the stream did not store them. */
  add(batches: Waiting, range?: BatchRange): void {
    this.total.batches += batches.batches;
    this.total.records += batches.records;
    this.total.bytes += batches.bytes;
    if (!range) return;
    const last = this.#ranges.at(-1);
    if (last?.end === range.first) Object.assign(last, { end: range.end, to: range.to, records: range.records });
    else this.#ranges.push({ ...range });
  }

  /** Whether a batch was dropped. */
  has(sequence: number): boolean {
    return this.covers(sequence, sequence + 1);
  }

  /** Whether all batches from sequence `first` up to `end` (exclusive) were dropped. */
  covers(first: number, end: number): boolean {
    return this.#ranges.some((range) => range.first <= first && end <= range.end);
  }

  /** Returns what was dropped after a sequence, in the part of the stream that is still ahead. */
  after(sequence: number): Waiting {
    const sum: Waiting = { batches: 0, records: 0, bytes: 0 };
    for (const { first, end, from, to, recordsBefore, records } of this.#ranges) {
      if (first <= sequence) continue;
      sum.batches += end - first;
      sum.records += records - recordsBefore;
      sum.bytes += to - from;
    }
    return sum;
  }

  /** Forgets the ranges up to a sequence that the consumer has passed. */
  passed(sequence: number): void {
    if ((this.#ranges[0]?.first ?? Infinity) > sequence) return;
    this.#ranges = this.#ranges.filter(({ first }) => first > sequence);
  }

  /** Creates the file, so that later writes need no space. */
  async reserve(): Promise<void> {
    await this.#file?.reserve();
  }

  async save(): Promise<void> {
    await this.#file?.save();
  }

  async sync(): Promise<void> {
    await this.#file?.sync();
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async remove(): Promise<void> {
    await this.#file?.remove();
  }

  #toJson(): JsonValue {
    const ranges = this.#ranges.map(({ first, end, from, to, recordsBefore, records }) => [
      first,
      end,
      from,
      to,
      recordsBefore,
      records,
    ]);
    return { dropping: this.#dropping, total: { ...this.total }, ranges };
  }

  #load(saved: JsonValue): void {
    if (!isRecord(saved)) return;
    const total = isRecord(saved['total']) ? saved['total'] : {};
    for (const name of ['batches', 'records', 'bytes'] as const) this.total[name] = Number(total[name] ?? 0);
    this.#dropping = saved['dropping'] === true;
    const ranges = Array.isArray(saved['ranges']) ? saved['ranges'] : [];
    this.#ranges = ranges.flatMap((range): BatchRange[] => {
      const [first, end, from, to, recordsBefore, records] = Array.isArray(range) ? range.map(Number) : [];
      if (first === undefined || end === undefined || from === undefined || to === undefined) return [];
      return [{ first, end, from, to, recordsBefore: recordsBefore ?? 0, records: records ?? 0 }];
    });
  }
}
