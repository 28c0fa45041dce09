import { isRecord, type JsonValue } from '../../connector-api/record.js';
import type { FileHandlePool } from '../../files/idle-file.js';
import type { Lost } from '../bus.js';
import { SlotFile } from './slot-file.js';

/** Record numbers of a stream, from `from` up to `to` (exclusive). */
export type RecordRange = readonly [from: number, to: number];

const SLOT_BYTES = 2048;
/** Older ranges are only kept as a count. */
const MAX_RANGES = 20;

/**
 * What a stream remembers beside its segments: where it ends, which shows that its last segments
 * are missing, and which records were lost.
 */
export class StreamState {
  /** The last batch that was stored, and all records up to it. */
  end = { sequence: 0, records: 0 };
  #lost: Lost | undefined;
  /** Lost ranges, sorted. Each consumer finds the losses ahead of it; they count once. */
  #ranges: RecordRange[] = [];
  #file: SlotFile | undefined;

  /** @param isNew the file does not exist */
  static async open(path: string, files: FileHandlePool, isNew: boolean): Promise<StreamState> {
    const state = new StreamState();
    state.#file = await SlotFile.open(
      path,
      SLOT_BYTES,
      files,
      () => state.#toJson(),
      (saved) => state.#load(saved),
      isNew,
    );
    return state;
  }

  get lost(): Lost | undefined {
    return this.#lost;
  }

  /**
   * Adds lost records. Returns how many of them are new.
   * @param exact `false`: the range held at least these
   * @param at milliseconds since the epoch
   */
  addLost(range: RecordRange, exact: boolean, at: number): number {
    let count = range[1] - range[0];
    let [from, to] = range;
    const others: RecordRange[] = [];
    for (const other of this.#ranges) {
      count -= Math.max(0, Math.min(other[1], range[1]) - Math.max(other[0], range[0]));
      if (other[1] < from || other[0] > to) others.push(other);
      else [from, to] = [Math.min(from, other[0]), Math.max(to, other[1])];
    }
    if (count <= 0) return 0;
    this.#ranges = [...others, [from, to] as const].sort((a, b) => a[0] - b[0]).slice(-MAX_RANGES);
    this.#lost = {
      records: (this.#lost?.records ?? 0) + count,
      exact: exact && (this.#lost?.exact ?? true),
      since: this.#lost?.since ?? at,
      latest: at,
    };
    return count;
  }

  /** Creates the file, so that later writes need no space. */
  async reserve(): Promise<void> {
    await this.#file?.reserve();
  }

  async save(): Promise<void> {
    await this.#file?.save();
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  #toJson(): JsonValue {
    const { sequence, records } = this.end;
    return {
      sequence,
      records,
      ranges: this.#ranges.map((range) => [...range]),
      ...(this.#lost && { lost: { ...this.#lost } }),
    };
  }

  #load(saved: JsonValue): void {
    if (!isRecord(saved)) return;
    this.end = { sequence: Number(saved['sequence'] ?? 0), records: Number(saved['records'] ?? 0) };
    const ranges = Array.isArray(saved['ranges']) ? saved['ranges'] : [];
    this.#ranges = ranges.flatMap((range): RecordRange[] =>
      Array.isArray(range) ? [[Number(range[0]), Number(range[1])]] : [],
    );
    const { lost } = saved;
    if (!isRecord(lost)) return;
    this.#lost = {
      records: Number(lost['records'] ?? 0),
      exact: lost['exact'] === true,
      since: Number(lost['since'] ?? 0),
      latest: Number(lost['latest'] ?? 0),
    };
  }
}
