import { isRecord, type JsonValue } from '../../connector-api/record.js';
import type { FileHandlePool } from '../../files/idle-file.js';
import type { Lost } from '../bus.js';
import { LostRecords, type RecordRange } from '../shared/lost-records.js';
import { SlotFile } from './slot-file.js';

const SLOT_BYTES = 2048;

/**
 * What a stream remembers beside its segments: where it ends, which shows that its last segments
 * are missing, and which records were lost.
 */
export class StreamState {
  /** The last batch that was stored, and all records up to it. */
  end = { sequence: 0, records: 0 };
  readonly #lost = new LostRecords();
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
    return this.#lost.lost;
  }

  /** Adds lost records. Returns how many of them are new. */
  addLost(range: RecordRange, exact: boolean, at: number): number {
    return this.#lost.add(range, exact, at);
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
    return { sequence, records, ...this.#lost.toJson() };
  }

  #load(saved: JsonValue): void {
    if (!isRecord(saved)) return;
    this.end = { sequence: Number(saved['sequence'] ?? 0), records: Number(saved['records'] ?? 0) };
    this.#lost.load(saved);
  }
}
