import { expect, it } from 'vitest';
import { Outages } from './outages.js';

const START = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Observes every ten seconds. */
function observe(outages: Outages, from: number, to: number): void {
  for (let now = from; now <= to; now += 10_000) outages.observed(now);
}

it('covers no window that begins before the first observation', () => {
  const outages = new Outages();
  observe(outages, START, START + 10 * MINUTE);
  expect(outages.covers(START, START + 10 * MINUTE)).toBe(true);
  expect(outages.covers(START - MINUTE, START + 10 * MINUTE)).toBe(false);
});

it('ignores a short restart in a long window, and remembers a long outage over a restart', () => {
  const first = new Outages();
  observe(first, START, START + 2 * HOUR);
  const restarted = new Outages(JSON.parse(JSON.stringify(first.toJson())));
  expect(restarted.last).toBe(START + 2 * HOUR);
  observe(restarted, START + 2 * HOUR + 2 * MINUTE, START + 3 * HOUR);
  const end = START + 3 * HOUR;
  expect(restarted.covers(end - 2 * HOUR, end)).toBe(true);
  expect(restarted.covers(end - HOUR, end)).toBe(true);
  expect(restarted.covers(START + 2 * HOUR, START + 2 * HOUR + 10 * MINUTE)).toBe(false);
  observe(restarted, end + HOUR, end + 2 * HOUR);
  expect(restarted.covers(end, end + 2 * HOUR)).toBe(false);
  expect(restarted.covers(end + HOUR, end + 2 * HOUR)).toBe(true);
});

it('ignores saved state that it does not understand', () => {
  for (const saved of [null, 'x', { spans: [1, ['a', 2], [3]], last: 'now' }]) {
    const outages = new Outages(saved);
    expect(outages.last).toBeUndefined();
    outages.observed(START);
    expect(outages.covers(START, START + MINUTE)).toBe(true);
  }
});
