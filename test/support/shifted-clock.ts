import { systemClock, WAKE_UP, type Clock } from '../../packages/engine/src/connector-api/clock.js';
import type { TestClock } from './service.js';

/** A clock for the API and the engine. */
export interface ShiftedClock extends TestClock, Clock {
  /** Sets the clock forward or back, like that of a machine: sleeps take as long as before. */
  advance(milliseconds: number): void;
  /** Lets time pass at once: sleeps that are over by then end. */
  pass(milliseconds: number): void;
}

/** Creates a clock that begins at `start`, and goes on with real time. */
export function createShiftedClock(start: number): ShiftedClock {
  let offset = start - Date.now();
  let passed = 0;
  /** When sleeps are over, by what ends them. */
  const sleeps = new Map<AbortController, number>();
  const now = (): number => Date.now() + offset;
  const elapsed = (): number => Date.now() + passed;
  return {
    now,
    elapsed: now,
    advance: (ms) => void (offset += ms),
    pass(ms) {
      offset += ms;
      passed += ms;
      for (const [sleep, end] of sleeps) if (end <= elapsed()) sleep.abort(WAKE_UP);
    },
    async sleep(ms, signal) {
      const end = new AbortController();
      sleeps.set(end, elapsed() + ms);
      await systemClock.sleep(ms, signal ? AbortSignal.any([signal, end.signal]) : end.signal);
      sleeps.delete(end);
    },
  };
}
