/** Time as the engine sees it. Given from outside, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` is aborted; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Why a signal was aborted that only wakes: without a reason an error with a stack is made each time. */
export const QUIETLY = 'woken';

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not that of `node:timers/promises`, which makes an error with a stack for everyone who is woken early.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal?.addEventListener('abort', wake);
    }),
};
