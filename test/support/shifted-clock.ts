import { systemClock, type Clock } from '../../packages/engine/src/connector-api/clock.js';
import type { TestClock } from './service.js';

/** A clock for the API and the engine. */
export interface ShiftedClock extends TestClock, Clock {
  /** Moves the clock, also back. */
  advance(milliseconds: number): void;
}

/** Creates a clock that begins at `start`, goes on with real time, and can be moved. Sleeps are real. */
export function createShiftedClock(start: number): ShiftedClock {
  let offset = start - Date.now();
  const now = (): number => Date.now() + offset;
  return {
    now,
    elapsed: now,
    advance: (ms) => void (offset += ms),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
}
