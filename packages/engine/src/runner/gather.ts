import { batchId, type Batch } from '../records/batch.js';
import { gatherBatches } from '../records/gathered-batch.js';
import { deliver, type Work } from './deliver.js';
import { arrivals, type OutputWays } from './deliver-over.js';
import type { Gathering } from './ends.js';

/**
 * Collects batches for an output until its limits are reached. Callers must not acknowledge a batch
 * before `write` has returned `true`.
 */
export class Gather {
  #parts: Batch[] = [];
  #batches = 0;
  #records = 0;
  #bytes = 0;
  #since = 0;
  #at: number | undefined;

  constructor(
    private readonly work: Work,
    private readonly to: OutputWays,
    private readonly limits: Gathering,
  ) {}

  /**
   * Milliseconds until the batch should be written, 0 when it is full, `undefined` when it is
   * empty.
   */
  get dueIn(): number | undefined {
    if (this.#parts.length === 0) return undefined;
    const { records, bytes, waitMs } = this.limits;
    if (this.#records >= records || this.#bytes >= bytes) return 0;
    const now = this.work.clock.now();
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
    const arriving = await arrivals(this.work, this.to, batch);
    if (!arriving) return false;
    this.#batches += 1;
    if (arriving.length > 0 && this.#parts.length === 0) {
      this.#since = this.work.clock.now();
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
    const { work, to } = this;
    const [parts, batches, at] = [this.#parts, this.#batches, this.#at];
    this.#parts = [];
    this.#batches = this.#records = this.#bytes = 0;
    work.health.opened(to.nodeId, batches);
    const [first] = parts;
    const written =
      first === undefined ||
      (await deliver(work, to.nodeId, to.output, gatherBatches(batchId(to.nodeId, first.recordId(0)), parts, at)));
    if (!written) work.health.opened(to.nodeId, -batches);
    else for (let done = 0; done < batches; done += 1) work.health.acknowledged(to.nodeId);
    return written;
  }
}
