import type { Clock } from '@connector-frame/engine';
import type { RunningRow } from '../../store/running-pipelines.js';
import { PendingChanges } from './pending-changes.js';

export interface ChangeReaderOptions {
  /** Returns the pipelines in `ids` that exist in the database. */
  load: (ids: readonly string[]) => Promise<RunningRow[]>;
  /**
   * Applies a row, or the removal of the pipeline if there is none. Registers the pipeline's inputs
   * synchronously, before it returns its promise. Never rejects.
   */
  apply: (id: string, row: RunningRow | undefined) => Promise<void>;
  failed: (error: unknown) => void;
  clock: Clock;
  closing: AbortSignal;
}

/** Pipelines per database read. */
const PAGE = 100;
/** Retry delay in milliseconds. */
export const RETRY_MS = 5_000;
/**
 * At startup, milliseconds to wait for one page to be applied before the next one is read
 * concurrently.
 */
const STARTUP_WAIT_MS = 2_000;

/** Reads pipelines that may have changed, page by page, in the order in which they were queued. */
export class ChangeReader {
  /** Ids to read. `#urgent` holds those that a caller is waiting for. */
  readonly #queue = new Set<string>();
  readonly #urgent = new Set<string>();
  readonly #pendingChanges = new PendingChanges();
  readonly #working = new Set<Promise<unknown>>();
  readonly #waiting = new Set<() => void>();
  readonly #options: ChangeReaderOptions;
  #started = false;
  #failing = false;
  #pumping: Promise<void> | undefined;

  constructor(options: ChangeReaderOptions) {
    this.#options = options;
  }

  /** Starts reading. Resolves when every pipeline queued so far has been read. */
  async start(): Promise<void> {
    this.#started = true;
    this.#wake();
    this.#pump(true);
    await this.#pumping;
  }

  /**
   * Queues a pipeline to be read.
   * @param reported whether a change was reported: `caughtUp` then waits for it
   */
  enqueue(id: string, reported = false): void {
    if (this.#options.closing.aborted) return;
    if (reported) this.#pendingChanges.add(id);
    this.#queue.add(id);
    if (this.#started) this.#pump();
  }

  /** Prioritizes a queued pipeline that a caller is waiting for. */
  prioritize(id: string): void {
    if (this.#queue.has(id)) this.#urgent.add(id);
  }

  /**
   * Resolves when every change reported so far has been read, reading has failed, or `signal` is
   * aborted.
   */
  async caughtUp(signal: AbortSignal): Promise<void> {
    const { closing } = this.#options;
    const now = this.#pendingChanges.last;
    while ((!this.#started || this.#pendingChanges.pendingUpTo(now)) && !signal.aborted && !closing.aborted)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          signal.removeEventListener('abort', done);
          this.#waiting.delete(done);
          resolve();
        };
        this.#waiting.add(done);
        signal.addEventListener('abort', done);
      });
  }

  /** Whether the pipelines were never read, or could not be read the last time. */
  get isStale(): boolean {
    return !this.#started || this.#failing;
  }

  /** Resolves when no work is in progress. Call it after `closing` is aborted. */
  async end(): Promise<void> {
    this.#wake();
    await this.#pumping;
    await Promise.all(this.#working);
  }

  #pump(startup = false): void {
    this.#pumping ??= this.#readAll(startup).finally(() => {
      this.#pumping = undefined;
      // Reads ids that were queued while the last read finished.
      if (this.#queue.size > 0 && !this.#options.closing.aborted) this.#pump();
    });
  }

  async #readAll(startup: boolean): Promise<void> {
    const { load, apply, failed, clock, closing } = this.#options;
    while (this.#queue.size > 0 && !closing.aborted) {
      const ids = this.#take();
      let rows: RunningRow[];
      try {
        rows = await load(ids);
        this.#failing = false;
      } catch (error) {
        this.#failing = true;
        for (const id of ids) this.#queue.add(id);
        // Releases the waiting callers: until the next read, records go to the pipelines known so
        // far.
        this.#pendingChanges.clear();
        this.#wake();
        failed(error);
        await clock.sleep(RETRY_MS, closing);
        continue;
      }
      const found = new Map(rows.map((row) => [row.pipeline.id, row]));
      const done = Promise.all(ids.map((id) => apply(id, found.get(id))));
      this.#pendingChanges.done(ids);
      this.#wake();
      const working = done.finally(() => this.#working.delete(working));
      this.#working.add(working);
      // Limits the rows that are in memory at startup, but does not let one slow pipeline block all
      // others.
      if (startup) await this.#waitFor(working);
    }
  }

  #take(): string[] {
    const ids = [...new Set([...this.#urgent, ...this.#queue])].slice(0, PAGE);
    for (const id of ids) {
      this.#urgent.delete(id);
      this.#queue.delete(id);
    }
    this.#pendingChanges.take(ids);
    return ids;
  }

  async #waitFor(working: Promise<unknown>): Promise<void> {
    const over = new AbortController();
    const done = working.finally(() => over.abort());
    await Promise.race([done, this.#options.clock.sleep(STARTUP_WAIT_MS, over.signal)]);
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
