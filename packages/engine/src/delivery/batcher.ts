import { batchId, type Batch } from '../connector-api/batch.js';
import { mergeBatches } from '../records/merged-batch.js';
import { deliver, type RunContext } from './deliver.js';
import { batchesFor, type OutputPaths } from './deliver-paths.js';
import type { Batching } from '../connector-api/index.js';

/**
 * Collects batches for an output until its limits are reached. Callers must not acknowledge a batch
 * before `write` has returned `true`.
 */
export class Batcher {
  readonly #context: RunContext;
  readonly #to: OutputPaths;
  readonly #limits: Batching;
  #parts: Batch[] = [];
  #batches = 0;
  #records = 0;
  #bytes = 0;
  #since = 0;
  #at: number | undefined;

  constructor(context: RunContext, to: OutputPaths, limits: Batching) {
    this.#context = context;
    this.#to = to;
    this.#limits = limits;
  }

  /**
   * Milliseconds until the batch should be written, 0 when it is full, `undefined` when it is
   * empty.
   */
  get dueIn(): number | undefined {
    if (this.#parts.length === 0) return undefined;
    const { records, bytes, waitMs } = this.#limits;
    if (this.#records >= records || this.#bytes >= bytes) return 0;
    const now = this.#context.clock.now();
    // The clock may have been set back.
    this.#since = Math.min(this.#since, now);
    return Math.max(0, this.#since + waitMs - now);
  }

  /**
   * Adds a batch. Returns `false` if the run stopped first.
   * @param at when the batch was ingested, in milliseconds since the epoch, if that is the same in
   *   every redelivery
   */
  async add(batch: Batch, at?: number): Promise<boolean> {
    const arriving = await batchesFor(this.#context, this.#to, batch);
    if (!arriving) return false;
    this.#batches += 1;
    if (arriving.length > 0 && this.#parts.length === 0) {
      this.#since = this.#context.clock.now();
      this.#at = at;
    }
    for (const part of arriving) {
      this.#parts.push(part);
      this.#records += part.lines.length;
      this.#bytes += part.bytes;
    }
    return true;
  }

  /** Writes everything collected. Returns `false` if the run stopped first. */
  async write(): Promise<boolean> {
    const context = this.#context;
    const to = this.#to;
    const [parts, batches, at] = [this.#parts, this.#batches, this.#at];
    this.#parts = [];
    this.#batches = this.#records = this.#bytes = 0;
    context.health.opened(to.nodeId, batches);
    const [first] = parts;
    const written =
      first === undefined ||
      (await deliver(context, to.nodeId, to.output, mergeBatches(batchId(to.nodeId, first.recordId(0)), parts, at)));
    if (!written) context.health.opened(to.nodeId, -batches);
    else for (let done = 0; done < batches; done += 1) context.health.acknowledged(to.nodeId);
    return written;
  }
}
