import { type Clock, MAX_BATCH_RECORDS, type Sink } from '@connector-frame/engine/connector-api';

/** Messages are appended at this size, whatever is still to come. */
const APPEND_BYTES = 1024 * 1024;
const APPEND_MS = 30_000;
const RETRY_MS = 1_000;

export interface QueueLimits {
  /** Number of waiting messages from which the broker is asked to pause. */
  messages: number;
  bytes: number;
}

/** Stops and continues the stream of messages. */
export interface FlowControl {
  pause(): void;
  resume(): void;
}

interface Waiting {
  line: string;
  acknowledge: () => void;
}

/**
 * Stores the messages of one connection in order, several at a time, and acknowledges each after
 * it is on disk. While there are too many, the connection is paused.
 */
export class AppendQueue {
  #waiting: Waiting[] = [];
  #bytes = 0;
  #running = false;
  #isPaused = false;
  #idle: (() => void)[] = [];
  readonly #sink: Sink;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #limits: QueueLimits;
  readonly #flow: FlowControl;

  /** @param signal aborted when the connection ends: what is not acknowledged is dropped */
  constructor(sink: Sink, clock: Clock, signal: AbortSignal, limits: QueueLimits, flow: FlowControl) {
    this.#sink = sink;
    this.#clock = clock;
    this.#signal = signal;
    this.#limits = limits;
    this.#flow = flow;
  }

  /**
   * @param line JSON without line breaks
   * @param acknowledge called once the record is stored
   */
  add(line: string, acknowledge: () => void = () => undefined): void {
    this.#waiting.push({ line, acknowledge });
    this.#bytes += line.length;
    if (!this.#isPaused && this.#isFull(1)) {
      this.#isPaused = true;
      this.#flow.pause();
    }
    if (!this.#running) void this.#run();
  }

  /** Resolves when nothing is waiting, or the connection has ended. */
  async idle(): Promise<void> {
    if (this.#running) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #isFull(share: number): boolean {
    const { messages, bytes } = this.#limits;
    return this.#waiting.length >= messages * share || this.#bytes >= bytes * share;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0 && !this.#signal.aborted) {
      const taken = this.#take();
      if (!(await this.#store(taken.map(({ line }) => line)))) break;
      for (const { acknowledge } of taken) acknowledge();
      if (this.#isPaused && !this.#isFull(0.5)) {
        this.#isPaused = false;
        this.#flow.resume();
      }
    }
    if (this.#signal.aborted) this.#waiting = [];
    this.#running = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { line } of this.#waiting) {
      if (count === MAX_BATCH_RECORDS || (count > 0 && bytes + line.length > APPEND_BYTES)) break;
      bytes += line.length;
      count += 1;
    }
    this.#bytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  /** Returns whether the lines are on disk; tries until the connection ends. */
  async #store(lines: readonly string[]): Promise<boolean> {
    while (!this.#signal.aborted) {
      try {
        const appended = await this.#sink.append(lines, { waitMs: APPEND_MS, signal: this.#signal });
        if (appended.stored) return true;
        if (appended.reason === 'closed') return false;
      } catch {
        // The sink reports its errors itself.
      }
      await this.#clock.sleep(RETRY_MS, this.#signal);
    }
    return false;
  }
}
