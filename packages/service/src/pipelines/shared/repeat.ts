import type { Clock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import { describeError } from '../../describe-error.js';

/** Runs work repeatedly, with pauses. Logs only the first of consecutive failures. */
export type Repeat = (pause: () => number, work: () => Promise<void> | void, message: string) => Promise<void>;

/** @param signal ends the repetition after the work that is running */
export const createRepeat =
  (clock: Clock, signal: AbortSignal, log: Logger): Repeat =>
  async (pause, work, message) => {
    for (let hasFailed = false; ;) {
      await clock.sleep(pause(), signal);
      if (signal.aborted) return;
      try {
        await work();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) log.warn({ problem: describeError(error) }, message);
        hasFailed = true;
      }
    }
  };
