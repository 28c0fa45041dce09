import { availableParallelism } from 'node:os';
import { JqThread, type Ran } from './jq-thread.js';
import { ConnectorError } from '../../connector-api/index.js';
import type { JqJob } from './protocol.js';

/** Milliseconds after which an idle thread is terminated. */
const IDLE_MS = 30_000;

/** A fixed number of threads, and a FIFO queue of jobs. */
class ThreadPool {
  readonly #size: number;
  readonly #idle: { thread: JqThread; since: NodeJS.Timeout }[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /**
   * Runs a job on a free thread.
   * @throws {ConnectorError} `jq`, of kind `retry`: no thread can be started
   */
  async run(job: JqJob): Promise<Ran> {
    if (this.#busy >= this.#size) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy += 1;
    try {
      const thread = this.#take() ?? (await open());
      const ran = await thread.run(job);
      if (thread.alive) this.#keep(thread);
      return ran;
    } finally {
      // Passes the slot to the first waiter, or frees it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy -= 1;
    }
  }

  #take(): JqThread | undefined {
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      clearTimeout(kept.since);
      if (kept.thread.alive) return kept.thread;
    }
    return undefined;
  }

  #keep(thread: JqThread): void {
    const since = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((each) => each.thread === thread),
        1,
      );
      thread.close();
    }, IDLE_MS).unref();
    this.#idle.push({ thread, since });
  }
}

/**
 * The thread pools of this process for jq. A program moves to `fast` after a successful run; a slow
 * one runs in `slow` for a while, so that it only delays other slow programs. New programs, and
 * those compiled on save, run in `fresh`.
 */
export const jqPools = {
  fast: new ThreadPool(Math.min(Math.max(availableParallelism() - 1, 2), 4)),
  fresh: new ThreadPool(1),
  slow: new ThreadPool(1),
} as const;

async function open(): Promise<JqThread> {
  try {
    return await JqThread.open();
  } catch (error) {
    throw new ConnectorError('jq', 'jq could not be started.', 'retry', undefined, { cause: error });
  }
}
