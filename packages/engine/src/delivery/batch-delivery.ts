import type { Batch } from '../connector-api/batch.js';
import { failureOf, MAX_REFUSALS, type Failure, type Output, type WriteResult } from '../connector-api/index.js';
import type { DeadLetter } from './dead-letters.js';
import { deadLetter, waitBeforeRetry, type RunContext } from './run-context.js';
import type { OutputGate, Turn } from './output-gate.js';
import { traceWrite } from '../tracing/trace-delivery.js';

export interface BatchDeliveryOptions {
  context: RunContext;
  nodeId: string;
  output: Output;
  gate: OutputGate;
  batch: Batch;
  /** Stores records that are at fault. Resolves with `false` if the run stopped first. */
  reject: (entries: readonly DeadLetter[]) => Promise<boolean>;
  /** These are dead letters: one that is refused again returns to them without further proof. */
  replayed: boolean;
}

/** A record that was refused on its own. */
interface Suspect {
  readonly index: number;
  readonly reason: string;
}

/**
 * Delivers one batch: retries what failed, and isolates the records that are at fault by splitting
 * what was refused in halves. One of `n` records takes about `2 log2 n` requests.
 *
 * A record that was refused on its own is at fault if the output accepted another one during this
 * delivery. Without that, all of the batch stays undecided and the gate closes.
 */
export class BatchDelivery {
  readonly #options: BatchDeliveryOptions;
  /** Indexes of undecided records; one array per request, the next one last. */
  #parts: (readonly number[])[];
  #suspects: Suspect[] = [];
  readonly #atFault: Suspect[] = [];
  /** How much the gate had accepted when a record was refused on its own, by index. */
  readonly #refusedAt = new Map<number, number>();
  #epoch: number;
  #acceptedBefore: number;
  #refusals = 0;
  #attempt = 0;
  #probes = 0;
  /** Temporary failures so far. */
  #retries = 0;
  readonly #startedAt: number;
  #lastFailure: { failure: Failure; at: number } | undefined;

  constructor(options: BatchDeliveryOptions) {
    this.#options = options;
    const { batch, gate, context } = options;
    this.#parts = [[...batch.lines.keys()]];
    this.#epoch = gate.epoch;
    this.#acceptedBefore = gate.accepted;
    this.#startedAt = context.clock.now();
  }

  /**
   * Resolves with `true` once every record is written or stored as a dead letter, and with `false`
   * if the run stopped first: the batch must then be delivered again.
   */
  async run(): Promise<boolean> {
    const { context, gate } = this.#options;
    const { waiting } = context;
    try {
      for (;;) {
        this.#startOverIfReopened();
        if (this.#parts.length === 0 && this.#isDecided()) return await this.#store();
        if (this.#lastFailure) waiting.add(this);
        const turn = gate.closed ? await gate.turn() : ({ probe: false } satisfies Turn);
        if (!turn || context.aborted.aborted) {
          if (turn?.probe) turn.release();
          return false;
        }
        try {
          if (!(await this.#writeNext(turn))) return false;
        } finally {
          if (turn.probe) turn.release();
        }
      }
    } finally {
      waiting.delete(this);
    }
  }

  /** Node that the batch is delivered to. */
  get nodeId(): string {
    return this.#options.nodeId;
  }

  /** The records that are not written yet, with their last failure. */
  get undecided():
    | { batch: Batch; attempts: number; startedAt: number; failedAt: number; failure: Failure }
    | undefined {
    if (!this.#lastFailure) return undefined;
    const indexes = [...this.#parts.flat(), ...this.#suspects.map(({ index }) => index)].toSorted((a, b) => a - b);
    const { failure, at: failedAt } = this.#lastFailure;
    const batch = this.#options.batch.pick(indexes);
    return { batch, attempts: this.#attempt, startedAt: this.#startedAt, failedAt, failure };
  }

  /** Refusals from before the output recovered say nothing about the records: send them again. */
  #startOverIfReopened(): void {
    const { gate } = this.#options;
    if (gate.epoch === this.#epoch) return;
    this.#epoch = gate.epoch;
    this.#acceptedBefore = gate.acceptedBeforeOpening;
    const open = [...this.#parts.flat(), ...this.#suspects.map(({ index }) => index)];
    this.#suspects = [];
    this.#parts = open.length === 0 ? [] : [open.toSorted((a, b) => a - b)];
  }

  /**
   * Returns whether everything is written or at fault. Otherwise only refused records are left and
   * nothing shows whether they are at fault; the gate is then closed.
   */
  #isDecided(): boolean {
    const { gate } = this.#options;
    const [first] = this.#suspects;
    if (!first) return true;
    const isProven = gate.accepted > this.#acceptedBefore;
    if (isProven || gate.mayGiveUp(this.#suspects.length)) {
      this.#atFault.push(...this.#suspects);
      this.#suspects = [];
      return true;
    }
    if (!gate.closed) gate.closeForRefusals(first.reason, false);
    return false;
  }

  async #store(): Promise<boolean> {
    const { batch, nodeId, reject } = this.#options;
    const ordered = this.#atFault.toSorted((a, b) => a.index - b.index);
    return reject(ordered.map(({ index, reason }) => deadLetter(nodeId, batch, index, reason)));
  }

  async #writeNext(turn: Turn): Promise<boolean> {
    const { context, gate, output, batch, replayed } = this.#options;
    const { probe } = turn;
    const part = turn.probe && turn.single ? this.#takeProbe() : (this.#parts.pop() ?? this.#takeProbe());
    if (!part) return true;
    const sent = batch.pick(part);
    const outcome = await gate.write(
      () => traceWrite(sent.lines.length, () => write(output, sent, context.aborted)),
      replayed,
    );
    this.#attempt += 1;
    if ('failure' in outcome) {
      this.#parts.push(part);
      if (context.aborted.aborted) return false;
      return this.#handleFailure(outcome.failure, probe);
    }
    return this.#handleResult(part, sent, outcome.result, probe);
  }

  async #handleFailure(failure: Failure, probe: boolean): Promise<boolean> {
    const { context, gate, nodeId, output } = this.#options;
    this.#lastFailure = { failure, at: context.clock.now() };
    context.waiting.add(this);
    if (failure.kind === 'permanent' || gate.closed) {
      gate.close(failure, probe);
      return true;
    }
    this.#retries += 1;
    return waitBeforeRetry(context, nodeId, failure, this.#retries, output.retry);
  }

  async #handleResult(part: readonly number[], sent: Batch, result: WriteResult, probe: boolean): Promise<boolean> {
    const { context, gate, nodeId } = this.#options;
    const { rejected = [], refused = [], unsent = [], retry } = result;
    const inBatch = (index: number): number => part[index] ?? 0;
    const open = new Set([
      ...rejected.map(({ index }) => index),
      ...refused.flatMap(({ indexes }) => indexes),
      ...unsent,
      ...(retry?.indexes ?? []),
    ]);
    const written = open.size === 0 ? sent : sent.pick([...sent.lines.keys()].filter((index) => !open.has(index)));
    context.counters.add(nodeId, 'egress', written.lines.length, written.bytes);
    context.samples.offer(nodeId, written.lines);

    if (unsent.length > 0) this.#parts.push(unsent.map(inBatch));
    const alone: Suspect[] = rejected.map(({ index, reason }) => ({ index: inBatch(index), reason }));
    for (const { indexes, reason, at } of refused.toReversed()) {
      if (indexes.length === 1 || at !== undefined) alone.push({ index: inBatch(at ?? indexes[0] ?? 0), reason });
      if (indexes.length === 1) continue;
      // The records before the one at fault were not written either.
      const middle = at === undefined ? Math.ceil(indexes.length / 2) : indexes.indexOf(at);
      const halves = [indexes.slice(at === undefined ? middle : middle + 1), indexes.slice(0, middle)];
      this.#parts.push(...halves.filter((half) => half.length > 0).map((half) => half.map(inBatch)));
    }
    const reason = alone.at(-1)?.reason ?? refused.at(-1)?.reason;
    if (reason !== undefined) {
      const failure: Failure = { code: 'refused', message: reason, kind: 'retry' };
      this.#lastFailure = { failure, at: context.clock.now() };
    }
    gate.recordResponse();
    this.#addRefused(alone, probe);
    if (written.lines.length > 0) {
      this.#refusals = 0;
      gate.recordAccepted();
    }
    if (!retry || retry.indexes.length === 0) return true;
    this.#parts.push(retry.indexes.map(inBatch));
    const { reason: why, afterMs, throttled } = retry;
    return this.#handleFailure(
      {
        code: 'retry',
        message: `${retry.indexes.length} records failed and are retried: ${why}.`,
        kind: throttled ? 'throttled' : 'retry',
        ...(afterMs !== undefined && { afterMs }),
      },
      probe,
    );
  }

  #addRefused(alone: readonly Suspect[], probe: boolean): void {
    const { gate, replayed } = this.#options;
    const [last] = alone.slice(-1);
    if (!last) return;
    this.#refusals += alone.length;
    if (replayed) {
      this.#atFault.push(...alone);
      if (this.#refusals < MAX_REFUSALS) return;
      // Sending the rest would only repeat the answer. Nothing is lost: all of them are dead letters.
      this.#atFault.push(...this.#parts.flat().map((index) => ({ index, reason: last.reason })));
      this.#parts = [];
      return;
    }
    for (const suspect of alone) {
      const before = this.#refusedAt.get(suspect.index);
      // Refused, then the output accepted another record, then refused again.
      if (before !== undefined && before < gate.accepted) this.#atFault.push(suspect);
      else this.#suspects.push(suspect);
      this.#refusedAt.set(suspect.index, gate.accepted);
    }
    gate.recordRefused(alone.length, last.reason, probe);
  }

  /**
   * Takes one undecided record out of the parts, each time another one, spread over the batch: a bad
   * record at its beginning can't hold the others. If all were refused, takes them in turn.
   */
  #takeProbe(): readonly number[] | undefined {
    const total = this.#parts.reduce((sum, { length }) => sum + length, 0);
    if (total === 0) {
      const suspect = this.#suspects.shift();
      return suspect && [suspect.index];
    }
    // Multiples of the golden ratio cover an interval evenly.
    let skip = Math.floor(((this.#probes * 0.618_033_988_75) % 1) * total);
    this.#probes += 1;
    for (let at = this.#parts.length - 1; at >= 0; at -= 1) {
      const part = this.#parts[at] ?? [];
      if (skip >= part.length) {
        skip -= part.length;
        continue;
      }
      const sides = [part.slice(skip + 1), part.slice(0, skip)].filter(({ length }) => length > 0);
      this.#parts.splice(at, 1, ...sides);
      return part.slice(skip, skip + 1);
    }
    return undefined;
  }
}

async function write(
  output: Output,
  batch: Batch,
  signal: AbortSignal,
): Promise<{ result: WriteResult } | { failure: Failure }> {
  try {
    return { result: await output.write(batch, signal) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}
