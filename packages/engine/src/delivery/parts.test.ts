import { expect, test } from 'vitest';
import { seededRandom } from '../testing/random.js';
import { createRetryPolicy, PERMANENT_MAX_MS, RETRY_LIMITS } from './retry-policy.js';
import { ConnectorError, failureOf } from '../connector-api/index.js';
import { PipelineLog } from '../pipeline/pipeline-log.js';

const LIMITS = { ...RETRY_LIMITS, permanentMaxMs: PERMANENT_MAX_MS };
const temporary = { kind: 'retry' } as const;

test('delays are random up to a limit that doubles, and never exceed the maximum', () => {
  const least = createRetryPolicy({ ...LIMITS, random: () => 0 });
  const most = createRetryPolicy({ ...LIMITS, random: () => 1 });
  expect([1, 2, 3, 4, 8, 1_000].map((attempt) => most(temporary, attempt))).toEqual([
    300, 600, 1_200, 2_400, 30_000, 30_000,
  ]);
  expect(least(temporary, 5)).toBe(0);
  const random = createRetryPolicy({ ...LIMITS, random: seededRandom(5) });
  const waits = Array.from({ length: 1_000 }, () => random(temporary, 3));
  expect(Math.min(...waits)).toBeLessThan(60);
  expect(Math.max(...waits)).toBeGreaterThan(1_140);
  expect(Math.abs(waits.reduce((sum, wait) => sum + wait, 0) / 1_000 - 600)).toBeLessThan(50);
});

test('waits after permanent failures grow from half a minute to a quarter of an hour', () => {
  const most = createRetryPolicy({ ...LIMITS, random: () => 1 });
  const waits = [1, 2, 3, 4, 5, 6, 1_000].map((attempt) => most({ kind: 'permanent' }, attempt) / 1_000);
  expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900]);
  const least = createRetryPolicy({ ...LIMITS, random: () => 0 });
  expect(least({ kind: 'permanent' }, 1)).toBe(15_000);
});

test('a delay that the server asked for extends the wait after a permanent failure, but does not shorten it', () => {
  const least = createRetryPolicy({ ...LIMITS, random: () => 0 });
  expect(least({ kind: 'permanent', afterMs: 2_000 }, 1)).toBe(15_000);
  expect(least({ kind: 'permanent', afterMs: 60_000 }, 1)).toBe(60_000);
});

test('uses the retry limits of the output', () => {
  const retryDelay = createRetryPolicy({ ...LIMITS, random: () => 1 });
  expect([1, 2, 9].map((attempt) => retryDelay(temporary, attempt, { firstMs: 1_000 }))).toEqual([
    1_000, 2_000, 30_000,
  ]);
});

test('a delay that the server asked for is honored up to an hour', () => {
  const retryDelay = createRetryPolicy({ ...LIMITS, random: () => 0.5 });
  expect(retryDelay({ ...temporary, afterMs: 60_000 }, 9)).toBe(60_150);
  expect(retryDelay({ ...temporary, afterMs: -5 }, 1)).toBe(150);
  expect(retryDelay({ ...temporary, afterMs: 1e12 }, 1)).toBe(3_600_150);
});

test('shows code and message of a connector error, and hides those of other errors', () => {
  const known = new ConnectorError('too_many', 'Too many requests.', 'throttled', 500);
  expect(failureOf(known)).toEqual({
    code: 'too_many',
    message: 'Too many requests.',
    kind: 'throttled',
    afterMs: 500,
  });
  const unknown = Object.assign(new Error('token hunter2 is bad'), { code: 'bad token hunter2' });
  expect(JSON.stringify(failureOf(unknown))).not.toContain('hunter2');
  expect(failureOf('hunter2')).toMatchObject({ code: 'unexpected', kind: 'retry' });
});

test('keeps the last entries; a slow reader misses the oldest and sees the gap', async () => {
  const log = new PipelineLog(() => 5, { capacity: 10 });
  const add = (count: number): void => {
    for (let n = 0; n < count; n += 1) log.add({ level: 'info', code: 'c', message: 'm' });
  };
  add(25);
  expect(log.entries().map(({ sequence }) => sequence)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
  expect(log.entries(2).map(({ sequence }) => sequence)).toEqual([24, 25]);
  const stop = new AbortController();
  const heard: number[] = [];
  const following = (async () => {
    for await (const { sequence } of log.tail(stop.signal, 23)) {
      heard.push(sequence);
      if (sequence === 24) add(15);
      if (sequence === 40) stop.abort();
    }
  })();
  await following;
  expect(heard).toEqual([24, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]);
  expect(log.followers).toBe(0);
});

test('removes a reader that stops following', async () => {
  const log = new PipelineLog(() => 0);
  for (let n = 0; n < 100; n += 1) {
    const stop = new AbortController();
    const tail = log.tail(stop.signal);
    const waiting = tail.next();
    stop.abort();
    expect(await waiting).toEqual({ value: undefined, done: true });
  }
  expect(log.followers).toBe(0);
});
