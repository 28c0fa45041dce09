import { randomUUID } from 'node:crypto';
import type { Clock } from '../../runner/clock.js';
import type { Appended, Sink } from '../../runner/ends.js';

/** Characters that may wait here for what cannot be asked to wait. */
const MAX_WAITING = 8 * 1024 * 1024;
/** Of that, what may wait before streams are asked to: there is always some left for datagrams. */
const ENOUGH = MAX_WAITING / 2;
/** Lines that are stored together at most. */
const TOGETHER = 2_000;
/** Milliseconds. */
const PATIENCE = 1_000;

interface Entry {
  lines: readonly string[];
  characters: number;
  done: (stored: boolean) => void;
}

/**
 * The way into one pipeline. What comes while the disk is busy goes together; while the buffer is full it is tried again,
 * with the same position, so that nothing is stored twice.
 */
export class Door {
  #queue: Entry[] = [];
  #characters = 0;
  #storing: Promise<void> | undefined;
  readonly #closed = new AbortController();
  readonly #waiting: (() => void)[] = [];

  constructor(
    readonly sink: Sink,
    private readonly clock: Clock,
  ) {}

  /** Resolves once they are on disk; `false`: the door was closed before. */
  put(lines: readonly string[]): Promise<boolean> {
    if (this.#closed.signal.aborted) return Promise.resolve(false);
    return new Promise((done) => {
      const characters = lines.reduce((sum, line) => sum + line.length, 0);
      this.#characters += characters;
      this.#queue.push({ lines, characters, done });
      this.#storing ??= this.#store().finally(() => (this.#storing = undefined));
    });
  }

  /** For what can't be asked to wait: `false` at once where there is no room for it. */
  offer(line: string): Promise<boolean> {
    return this.#characters + line.length > MAX_WAITING ? Promise.resolve(false) : this.put([line]);
  }

  /** Nothing is stored any more. */
  get closed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Resolves when there is room for what can be asked to wait, or when it is closed. */
  async room(): Promise<void> {
    while (this.#characters > ENOUGH && !this.#closed.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Stores what has come, for so long at most; what is left then is not stored. */
  async close(graceMs: number): Promise<void> {
    const late = setTimeout(() => {
      this.#closed.abort();
      this.#wake();
    }, graceMs);
    await this.#storing;
    clearTimeout(late);
    this.#closed.abort();
    this.#wake();
    for (const { done } of this.#queue.splice(0)) done(false);
  }

  async #store(): Promise<void> {
    while (this.#queue.length > 0 && !this.#closed.signal.aborted) {
      let count = 0;
      const end = this.#queue.findIndex(({ lines }) => (count += lines.length) > TOGETHER);
      const group = this.#queue.slice(0, end < 0 ? this.#queue.length : Math.max(1, end));
      if (!(await this.#append(group.flatMap(({ lines }) => lines)))) return;
      this.#queue.splice(0, group.length);
      for (const { characters, done } of group) {
        this.#characters -= characters;
        done(true);
      }
      this.#wake();
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #append(lines: readonly string[]): Promise<boolean> {
    const position = randomUUID();
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const appended = await this.#try(lines, position);
      if (appended.stored) return true;
      if (appended.reason === 'closed') await this.clock.sleep(PATIENCE, signal);
    }
    return false;
  }

  async #try(lines: readonly string[], position: string): Promise<Appended> {
    try {
      return await this.sink.append(lines, { position, waitMs: PATIENCE, signal: this.#closed.signal });
    } catch {
      // The disk may be back in a moment. Whoever sends over a stream waits so long.
      return { stored: false, reason: 'closed' };
    }
  }
}
