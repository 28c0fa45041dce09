import { randomUUID } from 'node:crypto';
import type { SpanContext } from '@opentelemetry/api';
import { BusError, type Bus, type ConsumerOptions } from '../bus/bus.js';
import { batchId, createBatch } from '../connector-api/batch.js';
import { splitLines } from '../records/split.js';
import type { DeadLetter } from '../delivery/dead-letters.js';
import { deadLetter } from '../delivery/deliver.js';
import type { PipelineContext } from '../delivery/pipeline-context.js';
import type { Appended, AppendOptions, Sink } from '../connector-api/index.js';
import { WAKE_UP } from '../connector-api/clock.js';
import type { NewLogEntry } from '../connector-api/log-entry.js';
import type { Suspension } from '../connector-api/suspension.js';
import { BatchTraces } from '../tracing/batch-traces.js';

export interface IngestBufferOptions {
  bus: Bus;
  /** Name of the stream on the bus. */
  stream: string;
  pipelineId: string;
  nodeId: string;
  context: Pick<PipelineContext, 'clock' | 'counters' | 'deadLetters' | 'log' | 'samples' | 'traces'>;
}

interface Waiting {
  lines: readonly string[];
  sender: SpanContext | undefined;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

const FULL: Appended = { stored: false, reason: 'full' };
const CLOSED: Appended = { stored: false, reason: 'closed' };

/**
 * Ingest buffer of a push input. Records that arrive during a write are grouped into the next one,
 * so that many small requests cost few writes.
 */
export class IngestBuffer implements Sink {
  readonly #options: IngestBufferOptions;
  #waiting: Waiting[] = [];
  #storing: Promise<void> | undefined;
  /** Appends that are stored separately. */
  readonly #separate = new Set<Promise<unknown>>();
  #closed = true;
  #suspension: Suspension | undefined;
  /** Aborted when the suspension or the buffer ends. */
  #unsuspended = new AbortController();

  constructor(options: IngestBufferOptions) {
    this.#options = options;
  }

  /**
   * Declares the stream on the bus and starts accepting records.
   * @param consumers outputs that acknowledge each batch, by node id
   */
  async open(consumers: readonly ConsumerOptions[]): Promise<void> {
    await this.#options.bus.declare(this.#options.stream, consumers);
    this.#closed = false;
  }

  async append(lines: readonly string[], options: AppendOptions = {}): Promise<Appended> {
    if (this.#suspension) await this.#waitWhileSuspended(options);
    if (this.#closed) return CLOSED;
    if (this.#suspension) return { stored: false, reason: 'suspended', suspension: this.#suspension };
    // A record that contains a line break would be read back as two.
    if (lines.some((line) => line.includes('\n'))) lines = lines.map((line) => JSON.stringify(JSON.parse(line)));
    const sender = BatchTraces.current();
    // Records with their own position or waiting time are stored separately.
    if (options.position !== undefined || options.waitMs !== undefined)
      return this.#storeSeparately(lines, options, sender);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ lines, sender, resolve, reject });
      this.#storing ??= this.#drain();
    });
  }

  note(entry: Omit<NewLogEntry, 'nodeId'>): void {
    this.#options.context.log({ ...entry, nodeId: this.#options.nodeId });
  }

  /** Accepts no records while there is a suspension. What was accepted before is stored. */
  suspend(suspension: Suspension | undefined): void {
    if (suspension && !this.#suspension) this.#unsuspended = new AbortController();
    this.#suspension = suspension;
    if (!suspension) this.#unsuspended.abort(WAKE_UP);
  }

  /** Stops accepting records; resolves once all pending appends have settled. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unsuspended.abort(WAKE_UP);
    await Promise.allSettled([this.#storing, ...this.#separate]);
  }

  async #waitWhileSuspended({ waitMs = 0, signal }: AppendOptions): Promise<void> {
    const { clock } = this.#options.context;
    const ended = this.#unsuspended.signal;
    if (waitMs > 0) await clock.sleep(waitMs, signal ? AbortSignal.any([signal, ended]) : ended);
  }

  async #storeSeparately(
    lines: readonly string[],
    options: AppendOptions,
    sender: SpanContext | undefined,
  ): Promise<Appended> {
    const storing = this.#store(lines, options, sender ? [sender] : []);
    this.#separate.add(storing);
    try {
      return await storing;
    } finally {
      this.#separate.delete(storing);
    }
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        const lines = group.flatMap((each) => each.lines);
        const senders = group.flatMap((each) => each.sender ?? []);
        const appended = await this.#store(lines, {}, senders);
        let from = 0;
        for (const each of group) {
          const { length } = each.lines;
          each.resolve(
            appended.stored ? { stored: true, tooLarge: within(appended.tooLarge, from, length) } : appended,
          );
          from += length;
        }
      } catch (error) {
        for (const each of group) each.reject(error);
      }
    }
    // In the same step as the check: records that arrive now start another write.
    this.#storing = undefined;
  }

  async #store(
    lines: readonly string[],
    { position: given, waitMs = 0, signal }: AppendOptions,
    senders: readonly SpanContext[],
  ): Promise<Appended> {
    const position = given ?? randomUUID();
    const { bus, stream, pipelineId, nodeId, context } = this.#options;
    const { clock, counters, deadLetters, samples, traces } = context;
    const { batches, tooLarge } = splitLines({ pipelineId, nodeId, position, once: given === undefined }, lines);
    const letters = tooLarge.length === 0 ? [] : this.#deadLetters(lines, tooLarge, position);
    // Checked first: after `full`, the sender sends everything again.
    if (letters.length > 0 && !(await deadLetters.hasRoomFor(letters).catch(notStored))) return FULL;
    for (const batch of batches) traces.remember(batch.id, senders);
    const results = await Promise.all(
      batches.map((batch) => bus.publish(stream, batch, { waitMs, ...(signal && { signal }) })),
    );
    for (const [index, batch] of batches.entries()) {
      const published = results[index];
      if (!published?.stored || published.repeated) continue;
      counters.add(nodeId, 'ingress', batch.lines.length, batch.bytes);
      counters.add(nodeId, 'egress', batch.lines.length, batch.bytes);
      samples.offer(nodeId, batch.lines);
      counters.ingestedAt(clock.now());
    }
    const rejected = results.find(({ stored }) => !stored);
    if (rejected?.stored === false) return { stored: false, reason: rejected.reason };
    if (tooLarge.length > 0) {
      await deadLetters.add(letters).catch(notStored);
      counters.addErrors(nodeId, tooLarge.length);
    }
    return { stored: true, tooLarge };
  }

  #deadLetters(lines: readonly string[], tooLarge: readonly number[], position: string): DeadLetter[] {
    const { pipelineId, nodeId } = this.#options;
    const whole = createBatch(batchId(pipelineId, nodeId, position), lines);
    return tooLarge.map((index) => deadLetter(nodeId, whole, index, 'too_large'));
  }
}

/** A failure of the disk, like that of the buffer: the sender retries. */
function notStored(error: unknown): never {
  throw new BusError('storage', 'The dead letters could not be written.', { cause: error });
}

const within = (indexes: readonly number[], from: number, length: number): number[] =>
  indexes.map((index) => index - from).filter((index) => index >= 0 && index < length);
