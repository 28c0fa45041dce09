import { expect, test } from 'vitest';
import { createRateLimiter } from './rate-limiter.js';

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

test('spaces requests evenly', async () => {
  const { clock, slept } = settableClock();
  const takeTurn = createRateLimiter(100, clock);
  for (let n = 0; n < 3; n += 1) await takeTurn(signal);
  expect(slept).toEqual([100, 100]);
});

test('does not wait an hour after the clock is set back an hour', async () => {
  for (const everyMs of [0, 100]) {
    const { clock, slept } = settableClock();
    const takeTurn = createRateLimiter(everyMs, clock);
    await takeTurn(signal);
    clock.at -= 3_600_000;
    await takeTurn(signal);
    expect(Math.max(0, ...slept)).toBeLessThanOrEqual(everyMs);
  }
});
