import { randomUUID } from 'node:crypto';
import type { Appended, Clock, Sink } from '@connector-frame/engine/connector-api';

/** Maximum queued characters when a datagram arrives: UDP has no backpressure. */
const MAX_WAITING = 8 * 1024 * 1024;
/** Queued characters above which streams are paused; the rest is reserved for datagrams. */
const ENOUGH = MAX_WAITING / 2;
/** Maximum lines per append. */
const TOGETHER = 2_000;
/** Time to wait for buffer space, and before a retry, in milliseconds. */
const PATIENCE = 1_000;

interface Entry {
  lines: readonly string[];
  characters: number;
  done: (stored: boolean) => void;
}

/**
 * Queues the messages for one pipeline. Lines that arrive during an append are stored together in
 * the next one. While the buffer is full, an append is retried with the same position, so that
 * nothing is stored twice.
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

  /** Resolves with `true` once the lines are on disk, or `false` if `close` came first. */
  put(lines: readonly string[]): Promise<boolean> {
    if (this.#closed.signal.aborted) return Promise.resolve(false);
    return new Promise((done) => {
      const characters = lines.reduce((sum, line) => sum + line.length, 0);
      this.#characters += characters;
      this.#queue.push({ lines, characters, done });
      this.#storing ??= this.#store().finally(() => (this.#storing = undefined));
    });
  }

  /** Like `put`, for datagrams: resolves with `false` immediately if the queue is full. */
  offer(line: string): Promise<boolean> {
    return this.#characters + line.length > MAX_WAITING ? Promise.resolve(false) : this.put([line]);
  }

  /** Whether nothing more will be stored. */
  get closed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Resolves when the queue has room for streams, or when it is closed. */
  async room(): Promise<void> {
    while (this.#characters > ENOUGH && !this.#closed.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Stores queued lines for at most `graceMs` milliseconds, then drops the rest. */
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
      // Treat a failed append as temporary; streams stay paused until it succeeds.
      return { stored: false, reason: 'closed' };
    }
  }
}
