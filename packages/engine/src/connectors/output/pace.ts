import type { Clock } from '../../runner/clock.js';

/** Waits until the next request may be made; they are evenly spread. Ends early with its signal. */
export type Pace = (signal: AbortSignal) => Promise<void>;

/** @param everyMs milliseconds between two requests; 0: no wait */
export function createPace(everyMs: number, clock: Clock): Pace {
  let next = 0;
  let before = 0;
  return async (signal) => {
    const now = clock.now();
    // A clock that is set back takes with it what was promised by it.
    if (now < before) next += now - before;
    before = now;
    const wait = next - now;
    next = Math.max(next, now) + everyMs;
    if (wait > 0) await clock.sleep(wait, signal);
    signal.throwIfAborted();
  };
}
