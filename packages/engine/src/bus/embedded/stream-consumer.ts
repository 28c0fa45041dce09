import { join } from 'node:path';
import type { FileHandlePool } from '../../files/idle-file.js';
import type { ConsumerOptions, ConsumerStats, OverflowPolicy, Waiting } from '../bus.js';
import { DroppedBatches } from './dropped-batches.js';
import { PositionFile, type Position } from './position-file.js';
import type { Segments } from './segments.js';

/** Limits of a bus for the backlog of a consumer, in bytes. */
export interface BudgetLimits {
  maxBytes: number;
  maxSpillBytes: number;
}

/** Tracks the position of one consumer of a stream, and the batches that are dropped for it. */
export class StreamConsumer {
  readonly name: string;
  readonly dropped: DroppedBatches;
  /** When the first batch after a position was published, as read last. */
  oldest: { after: Position; at: number } | undefined;
  readonly #segments: Segments;
  readonly #file: PositionFile | undefined;
  #policy: OverflowPolicy = 'block';
  #maxBytes = 0;
  #position: Position;
  #byteOffset = 0;
  #writing: Promise<void> = Promise.resolve();
  /** The position was not written, because the disk was full. */
  #unsaved = false;
  /** Where to continue once everything up to `after` is acknowledged: the batches between are lost. */
  #jump: { after: number; to: Position } | undefined;

  private constructor(
    name: string,
    segments: Segments,
    file: PositionFile | undefined,
    saved: Position | undefined,
    dropped: DroppedBatches,
  ) {
    this.name = name;
    this.#segments = segments;
    this.#file = file;
    this.dropped = dropped;
    this.#position = saved ?? startOf(segments);
    this.#locate();
  }

  /**
   * Opens the files of a consumer. They are created by `reserve` or the first acknowledgment.
   * @param isNew the files do not exist
   */
  static async open(
    folder: string,
    { name }: ConsumerOptions,
    { segments, files, isNew }: { segments: Segments; files: FileHandlePool; isNew: boolean },
  ): Promise<StreamConsumer> {
    const { file, position } = await PositionFile.open(join(folder, `${name}.pos`), files, isNew);
    if (position) segments.continueAfter(position);
    const dropped = await DroppedBatches.open(join(folder, `${name}.drops`), files, isNew);
    return new StreamConsumer(name, segments, file, position, dropped);
  }

  /** Returns a consumer at the start of the stream without files. */
  static atStart(segments: Segments): StreamConsumer {
    return new StreamConsumer('', segments, undefined, undefined, new DroppedBatches());
  }

  /** Sets what happens when the backlog exceeds the budget. */
  configure({ policy = 'block', maxBytes = Infinity }: Omit<ConsumerOptions, 'name'>, limits: BudgetLimits): void {
    this.#policy = policy;
    this.#maxBytes = Math.min(maxBytes, policy === 'spill' ? limits.maxSpillBytes : limits.maxBytes);
    if (policy !== 'drop_newest') this.dropped.stop();
  }

  get position(): Position {
    return this.#position;
  }

  /** The position as a byte offset in the stream. */
  get byteOffset(): number {
    return this.#byteOffset;
  }

  /** Bytes it has not acknowledged, without those dropped. */
  get backlog(): number {
    const { bytes } = this.dropped.after(this.#position.sequence);
    return Math.max(0, this.#segments.end - this.#byteOffset - bytes);
  }

  /** Whether new batches are dropped rather than rejected when the backlog exceeds the budget. */
  get drops(): boolean {
    return this.#policy === 'drop_newest';
  }

  /**
   * Whether `bytes` more fit into its budget. A batch larger than the whole budget is accepted when
   * the backlog is empty.
   * @param reserved bytes that will be stored before them
   */
  fits(bytes: number, reserved: number): boolean {
    const used = this.backlog + reserved;
    return used <= 0 || used + bytes <= this.#maxBytes;
  }

  /**
   * Decides whether the next batch is dropped for this consumer.
   * @param pending bytes that will be stored before it
   */
  shouldDrop(bytes: number, pending: number): boolean {
    return this.drops && this.dropped.shouldDrop(this.backlog + pending, bytes, this.#maxBytes);
  }

  /** Whether it still has to read some of the batches in a segment. */
  needs(segment: { first: number; base: number; size: number }, end: number): boolean {
    return segment.base + segment.size > this.#byteOffset && !this.dropped.covers(segment.first, end);
  }

  stats(): ConsumerStats {
    return {
      ...this.waiting(),
      maxBytes: this.#maxBytes,
      dropping: this.dropped.dropping,
      dropped: { ...this.dropped.total },
    };
  }

  waiting(): Waiting {
    const segments = this.#segments;
    const dropped = this.dropped.after(this.#position.sequence);
    return {
      batches: Math.max(0, segments.lastSequence - this.#position.sequence - dropped.batches),
      records: Math.max(0, segments.records - this.#position.records - dropped.records),
      bytes: Math.max(0, segments.end - this.#byteOffset - dropped.bytes),
    };
  }

  /**
   * Creates the files while the disk has space, so that later writes need none.
   * @throws the error of the file system
   */
  async reserve(): Promise<void> {
    if (this.#file?.created === false) await this.#save();
    if (this.drops) await this.dropped.reserve();
  }

  /** Acknowledges all batches up to `to`. */
  async advance(to: Position): Promise<void> {
    if (to.sequence <= this.#position.sequence) return;
    this.#position = to;
    if (this.#jump && to.sequence >= this.#jump.after) {
      if (to.sequence < this.#jump.to.sequence) this.#position = this.#jump.to;
      this.#jump = undefined;
    }
    this.#locate();
    this.dropped.passed(this.#position.sequence);
    if (this.drops) this.dropped.update(this.backlog, this.#maxBytes);
    this.#unsaved = true;
    await this.saveIfNeeded();
  }

  /**
   * Saves the position unless it is saved. An error is not reported: the batches would be delivered
   * again only after a restart, and the next acknowledgment saves them, too.
   */
  async saveIfNeeded(): Promise<void> {
    if (this.#unsaved) await this.#save().catch(() => undefined);
  }

  /** Continues at `to` once all batches up to `after` are acknowledged, because those between are lost. */
  async jump(after: number, to: Position): Promise<void> {
    if (this.#position.sequence >= after) await this.advance(to);
    else this.#jump = { after, to };
  }

  async close(): Promise<void> {
    await this.saveIfNeeded();
    await this.#file?.close();
    await this.dropped.close();
  }

  async remove(): Promise<void> {
    await this.#writing;
    await this.#file?.remove();
    await this.dropped.remove();
  }

  #save(): Promise<void> {
    const saving = this.#writing.then(() => this.#write());
    this.#writing = saving.catch(() => undefined);
    return saving;
  }

  async #write(): Promise<void> {
    const position = this.#position;
    await this.#file?.write(position);
    if (position === this.#position) this.#unsaved = false;
  }

  #locate(): void {
    const { list, end } = this.#segments;
    const { segment: first, offset } = this.#position;
    const segment = list.find((each) => each.first >= first);
    // A missing segment was acknowledged and deleted, or is lost: continue after it.
    if (!segment) this.#byteOffset = end;
    else this.#byteOffset = segment.base + (segment.first === first ? Math.min(offset, segment.size) : 0);
  }
}

function startOf({ list: [first], lastSequence, records }: Segments): Position {
  return first
    ? { sequence: first.first - 1, segment: first.first, offset: 0, records: first.recordsBefore }
    : { sequence: lastSequence, segment: 0, offset: 0, records };
}
