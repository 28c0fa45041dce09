import type { Clock } from '@connector-frame/engine';
import type { RunningRow } from '../../store/running-pipelines.js';
import { Hints } from './hints.js';

export interface ChangeReaderOptions {
  /** Those of `ids` that are in the database. */
  load: (ids: readonly string[]) => Promise<RunningRow[]>;
  /** Takes what was read, or that it is gone: what stands in it is known once this was called. Never rejects. */
  apply: (id: string, row: RunningRow | undefined) => Promise<void>;
  failed: (error: unknown) => void;
  clock: Clock;
  closing: AbortSignal;
}

/** Pipelines that are read together. */
const PAGE = 100;
/** Milliseconds before what failed is tried again. */
export const AGAIN = 5_000;
/** Milliseconds for a page of pipelines at the start, before the next is read beside it. */
const PATIENCE = 2_000;

/** Reads pipelines that may have changed, page by page, in the order in which that was said. */
export class ChangeReader {
  /** Ids to look at; of these, the ones that somebody waits for. */
  readonly #queue = new Set<string>();
  readonly #urgent = new Set<string>();
  readonly #hints = new Hints();
  readonly #working = new Set<Promise<unknown>>();
  readonly #waiting = new Set<() => void>();
  #begun = false;
  #pumping: Promise<void> | undefined;

  constructor(private readonly options: ChangeReaderOptions) {}

  /** What was looked at until now is read from here on. Resolves when all of it is. */
  async begin(): Promise<void> {
    this.#begun = true;
    this.#wake();
    this.#pump(true);
    await this.#pumping;
  }

  /** It is to be read, in its turn. @param told it was said to have changed: whoever waits for that waits for it */
  look(id: string, told = false): void {
    if (this.options.closing.aborted) return;
    if (told) this.#hints.tell(id);
    this.#queue.add(id);
    if (this.#begun) this.#pump();
  }

  /** Somebody waits for it. */
  hurry(id: string): void {
    if (this.#queue.has(id)) this.#urgent.add(id);
  }

  /** Resolves when what was told so far is read, or `signal` is aborted. */
  async caughtUp(signal: AbortSignal): Promise<void> {
    const { closing } = this.options;
    const now = this.#hints.last;
    while ((!this.#begun || this.#hints.pendingUpTo(now)) && !signal.aborted && !closing.aborted)
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

  /** After `closing` was aborted: resolves when nothing is under way any more. */
  async end(): Promise<void> {
    this.#wake();
    await this.#pumping;
    await Promise.all(this.#working);
  }

  #pump(patient = false): void {
    this.#pumping ??= this.#readAll(patient).finally(() => {
      this.#pumping = undefined;
      // What was told in between.
      if (this.#queue.size > 0 && !this.options.closing.aborted) this.#pump();
    });
  }

  async #readAll(patient: boolean): Promise<void> {
    const { load, apply, failed, clock, closing } = this.options;
    while (this.#queue.size > 0 && !closing.aborted) {
      const ids = this.#take();
      let rows: RunningRow[];
      try {
        rows = await load(ids);
      } catch (error) {
        for (const id of ids) this.#queue.add(id);
        // What is sent meanwhile goes where it went before.
        this.#hints.clear();
        this.#wake();
        failed(error);
        await clock.sleep(AGAIN, closing);
        continue;
      }
      const found = new Map(rows.map((row) => [row.pipeline.id, row]));
      const done = Promise.all(ids.map((id) => apply(id, found.get(id))));
      this.#hints.done(ids);
      this.#wake();
      const working = done.finally(() => this.#working.delete(working));
      this.#working.add(working);
      // Many that begin must not all be in memory with their rows; and one that is slow must not hold up all.
      if (patient) await this.#patience(working);
    }
  }

  #take(): string[] {
    const ids = [...new Set([...this.#urgent, ...this.#queue])].slice(0, PAGE);
    for (const id of ids) {
      this.#urgent.delete(id);
      this.#queue.delete(id);
    }
    this.#hints.take(ids);
    return ids;
  }

  async #patience(working: Promise<unknown>): Promise<void> {
    const over = new AbortController();
    const done = working.finally(() => over.abort());
    await Promise.race([done, this.options.clock.sleep(PATIENCE, over.signal)]);
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
