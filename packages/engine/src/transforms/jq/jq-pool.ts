import { availableParallelism } from 'node:os';
import { JqThread, type Ran } from './jq-thread.js';
import { EndError } from '../../runner/ends.js';
import type { JqJob } from './protocol.js';

/** A thread that had nothing to do for so long is let go. */
const IDLE_MS = 30_000;

/** Some threads, and the jobs that wait for one, first come first served. */
class Lane {
  readonly #idle: { thread: JqThread; since: NodeJS.Timeout }[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(private readonly size: number) {}

  /** @throws EndError `jq`, retry: no thread can be started */
  async run(job: JqJob): Promise<Ran> {
    if (this.#busy >= this.size) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy += 1;
    try {
      const thread = this.#take() ?? (await open());
      const ran = await thread.run(job);
      if (thread.alive) this.#keep(thread);
      return ran;
    } finally {
      // The place goes to who waits first, or is free again.
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
 * The threads of this process that run jq. A program comes to the fast ones once it has done well; one that was found to
 * be slow goes to another for a while: so neither holds up anybody but others like it. Programs are compiled among the
 * fresh ones when they are saved.
 */
export const jqLanes = {
  fast: new Lane(Math.min(Math.max(availableParallelism() - 1, 2), 4)),
  fresh: new Lane(1),
  slow: new Lane(1),
} as const;

async function open(): Promise<JqThread> {
  try {
    return await JqThread.open();
  } catch (error) {
    throw new EndError('jq', 'jq could not be started.', 'retry', undefined, { cause: error });
  }
}
