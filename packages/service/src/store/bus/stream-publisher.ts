import { BusError, type Batch, type Published, type PublishOptions } from '@connector-frame/engine';
import { isDatabaseUnavailable } from '../unavailable.js';
import { sizeOf } from './batch-body.js';
import type { Outcome } from './bus-queries.js';

interface Entry {
  batch: Batch;
  /** When it stops waiting for space, by `performance.now()`. */
  deadline: number;
  signal: AbortSignal | undefined;
  resolve(published: Published): void;
  reject(error: unknown): void;
}

/** Maximum bytes per transaction. */
const GROUP_BYTES = 4 * 1024 * 1024;
/** Milliseconds between attempts while a batch waits for space, unless a consumer reports some. */
const SPACE_MS = 500;

const FULL: Published = { stored: false, reason: 'full' };

export interface StreamPublisherOptions {
  stream: string;
  /** Stores a group. `undefined`: there is no such stream. */
  store: (batches: readonly Batch[]) => Promise<Outcome[] | undefined>;
  /** Called after batches were stored. */
  onStored: () => void;
}

/**
 * Publishes to one stream. Batches that arrive during a transaction are stored together by the next
 * one, in their order.
 */
export class StreamPublisher {
  readonly #options: StreamPublisherOptions;
  readonly #inFlight = new Map<string, Promise<Published>>();
  #queue: Entry[] = [];
  #storing: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #closed = false;

  constructor(options: StreamPublisherOptions) {
    this.#options = options;
  }

  publish(batch: Batch, { waitMs = 0, signal }: PublishOptions): Promise<Published> {
    const inFlight = this.#inFlight.get(batch.id);
    if (inFlight)
      return inFlight.then((published) => (published.stored ? { ...published, repeated: true } : published));
    const wake = (): void => this.#wake();
    const storing = new Promise<Published>((resolve, reject) => {
      const deadline = performance.now() + waitMs;
      this.#queue.push({ batch, deadline, signal, resolve, reject });
      // It may be behind a batch that waits for space, but must not wait itself.
      if (waitMs <= 0) this.#wake();
      signal?.addEventListener('abort', wake);
    }).finally(() => {
      signal?.removeEventListener('abort', wake);
      this.#inFlight.delete(batch.id);
    });
    this.#inFlight.set(batch.id, storing);
    this.#storing ??= this.#run();
    return storing;
  }

  /** Ends a wait for space: some may have been freed. */
  wake(): void {
    this.#wake();
  }

  /** Rejects what waits for space; resolves once no write is in progress. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.#storing;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      const waiting = await this.#store(group);
      this.#queue = [...waiting, ...this.#queue];
      if (waiting.length > 0) await this.#waitForSpace();
    }
    // In the same step as the check: a batch that is queued now starts another run.
    this.#storing = undefined;
  }

  /** Stores a group. Returns the batches that still wait for space. */
  async #store(group: readonly Entry[]): Promise<Entry[]> {
    const { stream, store, onStored } = this.#options;
    let outcomes: Outcome[] | undefined;
    try {
      if (this.#closed) throw new BusError('closed', 'The bus is closed.');
      outcomes = await store(group.map(({ batch }) => batch));
      if (!outcomes) throw new BusError('unknown_stream', `There is no stream ${stream}. Declare it.`);
    } catch (error) {
      // The caller decides by the cause whether the database is away.
      const failure =
        error instanceof BusError || isDatabaseUnavailable(error)
          ? error
          : new BusError('storage', `Stream ${stream} could not be written.`, { cause: error });
      for (const entry of group) entry.reject(failure);
      return [];
    }
    if (outcomes.some((each) => each.stored && !each.repeated)) onStored();
    const now = performance.now();
    return group.filter((entry, index) => {
      const outcome = outcomes[index];
      if (outcome?.stored) entry.resolve(outcome);
      else if (entry.deadline <= now || entry.signal?.aborted === true) entry.resolve(FULL);
      else return true;
      return false;
    });
  }

  #waitForSpace(): Promise<void> {
    const next = Math.min(...this.#queue.map(({ deadline }) => deadline)) - performance.now();
    if (this.#closed || next <= 0 || this.#queue.some(({ signal }) => signal?.aborted === true))
      return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), Math.min(SPACE_MS, next));
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        resolve();
      };
    });
  }

  #takeGroup(): Entry[] {
    let bytes = 0;
    const end = this.#queue.findIndex(({ batch }) => (bytes += sizeOf(batch)) > GROUP_BYTES);
    return this.#queue.splice(0, end < 0 ? this.#queue.length : Math.max(1, end));
  }
}
