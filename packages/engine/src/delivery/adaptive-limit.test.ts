import { expect, test } from 'vitest';
import { AdaptiveLimit } from './adaptive-limit.js';

/**
 * Writes to a simulated destination as fast as the limit allows, and returns the limit after each
 * write.
 * @param latency returns the milliseconds of a write, or `undefined` if it fails, by the number of
 *   writes in flight
 */
function simulate(limit: AdaptiveLimit, clock: { now: number }, writes: number, latency: Latency): number[] {
  const inFlight: { end: number; ms: number | undefined }[] = [];
  const values: number[] = [];
  for (let write = 0; write < writes; write += 1) {
    while (inFlight.length < limit.value) {
      const ms = latency(inFlight.length + 1);
      inFlight.push({ end: clock.now + (ms ?? 10), ms });
      limit.started(inFlight.length);
    }
    inFlight.sort((a, b) => a.end - b.end);
    const next = inFlight.shift();
    if (!next) break;
    clock.now = Math.max(clock.now, next.end);
    if (next.ms === undefined) limit.failed();
    else limit.succeeded(next.ms);
    values.push(limit.value);
  }
  return values;
}
type Latency = (inFlight: number) => number | undefined;

function create(max: number) {
  const clock = { now: 0 };
  return { clock, limit: new AdaptiveLimit(max, () => clock.now) };
}

test('rises by one at a time up to the maximum while writes stay as fast', () => {
  const { limit, clock } = create(12);
  const values = simulate(limit, clock, 400, () => 50);
  expect(values.at(-1)).toBe(12);
  const steps = values.map((value, index) => value - (values[index - 1] ?? 1));
  expect(Math.max(...steps)).toBe(1);
  expect(Math.min(...steps)).toBe(0);
});

test('settles where a destination begins to queue requests', () => {
  const { limit, clock } = create(200);
  // Ten requests at a time take 50 ms; more wait for each other.
  const values = simulate(limit, clock, 5_000, (inFlight) => 50 * Math.max(1, inFlight / 10));
  const late = values.slice(2_000);
  expect(Math.max(...late)).toBeLessThan(40);
  expect(late.reduce((sum, value) => sum + value, 0) / late.length).toBeGreaterThan(5);
});

test('follows a destination that has become slower', () => {
  const { limit, clock } = create(16);
  simulate(limit, clock, 500, () => 20);
  simulate(limit, clock, 2_000, () => 200);
  expect(limit.value).toBe(16);
});

test('falls by half when writes fail, once for all that were in flight together', () => {
  const { limit, clock } = create(16);
  simulate(limit, clock, 1_000, () => 50);
  expect(limit.value).toBe(16);
  for (let write = 0; write < 16; write += 1) limit.failed();
  expect(limit.value).toBe(8);
  clock.now += 60;
  limit.failed();
  expect(limit.value).toBe(4);
  simulate(limit, clock, 200, () => undefined);
  expect(limit.value).toBe(1);
  simulate(limit, clock, 1_000, () => 50);
  expect(limit.value).toBe(16);
});

test('does not rise while writes use only a part of it', () => {
  const { limit, clock } = create(16);
  simulate(limit, clock, 10, () => 50);
  const before = limit.value;
  expect(before).toBeGreaterThan(1);
  for (let write = 0; write < 100; write += 1) {
    clock.now += 50;
    limit.started(1);
    limit.succeeded(50);
  }
  // What was started before the load fell may still count once.
  expect(limit.value).toBeLessThanOrEqual(before + 1);
});
