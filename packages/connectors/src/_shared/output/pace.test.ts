import { expect, test } from 'vitest';
import { createPace } from './pace.js';

/** A manually set clock that records the requested sleep durations. */
function settableClock() {
  const slept: number[] = [];
  const clock = {
    at: 1_000_000_000,
    now: () => clock.at,
    sleep: (ms: number) => {
      slept.push(ms);
      clock.at += ms;
      return Promise.resolve();
    },
  };
  return { clock, slept };
}
const { signal } = new AbortController();

test('requests are evenly spread', async () => {
  const { clock, slept } = settableClock();
  const pace = createPace(100, clock);
  for (let n = 0; n < 3; n += 1) await pace(signal);
  expect(slept).toEqual([100, 100]);
});

test('a clock that is set back an hour holds up nobody for an hour', async () => {
  for (const everyMs of [0, 100]) {
    const { clock, slept } = settableClock();
    const pace = createPace(everyMs, clock);
    await pace(signal);
    clock.at -= 3_600_000;
    await pace(signal);
    expect(Math.max(0, ...slept)).toBeLessThanOrEqual(everyMs);
  }
});
