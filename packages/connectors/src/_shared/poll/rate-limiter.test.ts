import { expect, test } from 'vitest';
import { ManualClock } from '@connector-frame/engine/testing';
import { RateLimiter } from './rate-limiter.js';

const DAY = 86_400_000;
const { signal } = new AbortController();

test('does not block for a day after the clock is set back a day', async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ rate: 1, unit: 'per_second' }, clock, 'Acme');
  await limiter.wait(signal);
  clock.advance(-DAY);
  const turn = limiter.wait(signal);
  expect(clock.untilNext).toBe(1_000);
  clock.advance(1_000);
  await turn;

  limiter.block(60_000);
  clock.advance(-DAY);
  await expect(limiter.wait(signal)).rejects.toMatchObject({ kind: 'throttled', afterMs: 60_000 });
  clock.advance(60_000);
  await limiter.wait(signal);
});
