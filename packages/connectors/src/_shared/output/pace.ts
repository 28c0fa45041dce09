import type { Clock } from '@connector-frame/engine/connector-api';

/** Waits until the next request may be sent; requests are evenly spaced. Rejects on abort. */
export type Pace = (signal: AbortSignal) => Promise<void>;

/** @param everyMs milliseconds between two requests; 0 disables the limit */
export function createPace(everyMs: number, clock: Clock): Pace {
  let next = 0;
  let before = 0;
  return async (signal) => {
    const now = clock.now();
    // If the system clock is set back, move the deadline back by the same amount.
    if (now < before) next += now - before;
    before = now;
    const wait = next - now;
    next = Math.max(next, now) + everyMs;
    if (wait > 0) await clock.sleep(wait, signal);
    signal.throwIfAborted();
  };
}
