import { expect, test } from 'vitest';
import { ManualClock } from '@connector-frame/engine/testing';
import { Pace } from './pace.js';

const DAY = 86_400_000;
const { signal } = new AbortController();

test('a clock that is set back a day closes nothing for a day', async () => {
  const clock = new ManualClock();
  const pace = new Pace({ rate: 1, unit: 'per_second' }, clock, 'Acme');
  await pace.turn(signal);
  clock.advance(-DAY);
  const turn = pace.turn(signal);
  expect(clock.untilNext).toBe(1_000);
  clock.advance(1_000);
  await turn;

  pace.close(60_000);
  clock.advance(-DAY);
  await expect(pace.turn(signal)).rejects.toMatchObject({ kind: 'throttled', afterMs: 60_000 });
  clock.advance(60_000);
  await pace.turn(signal);
});
