/** The engine's time source. Injectable, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` is aborted; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Abort reason of signals that only end a sleep: without a reason, `abort()` allocates an error
 * with a stack each time.
 */
export const WAKE_UP = 'woken';

export const systemClock: Clock = {
  now: () => Date.now(),
  // Avoids `timers/promises`: it allocates an AbortError with a stack on every early wake-up.
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
