import { setTimeout as timeout } from 'node:timers/promises';

/** Time as the engine sees it. Given from outside, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` is aborted; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => timeout(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined),
};
