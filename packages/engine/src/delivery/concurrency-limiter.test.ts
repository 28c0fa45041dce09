import { expect, test } from 'vitest';
import { createBatch } from '../connector-api/batch.js';
import { ConnectorError, WRITTEN, type Output, type WriteResult } from '../connector-api/index.js';
import { ManualClock } from '../testing/manual-clock.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';
import { createRetryPolicy, RETRY_LIMITS } from './retry-policy.js';
import { RetryWaits } from './retry-waits.js';

/** Lets all promises that can settle do so. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const batch = (name: string) => createBatch(name, ['{}']);

/** A limiter over an output whose writes are settled by hand, by the id of their batch. */
function world(max = 8) {
  const clock = new ManualClock();
  const stopping = new AbortController();
  const aborted = new AbortController();
  const writes = new Map<string, { resolve(result?: WriteResult): void; reject(error: unknown): void }>();
  const output: Output = {
    write: ({ id }) =>
      new Promise((resolve, reject) => {
        writes.set(id, { resolve: (result = WRITTEN) => resolve(result), reject });
      }),
  };
  const limiter = new ConcurrencyLimiter({
    context: {
      retries: new RetryWaits(clock),
      retryDelay: createRetryPolicy({ ...RETRY_LIMITS, permanentMaxMs: 300_000, random: () => 1 }),
      stopping: stopping.signal,
      aborted: aborted.signal,
    },
    output,
    max,
    onChange: () => undefined,
    monotonicNow: () => clock.now(),
  });
  const results: string[] = [];
  const lanes = new Map<string, ReturnType<ConcurrencyLimiter['open']>>();
  /** Writes a batch in a lane of that name. */
  const write = (name: string): void => {
    const lane = lanes.get(name) ?? limiter.open();
    lanes.set(name, lane);
    void lane.output.write(batch(name), aborted.signal).then(
      () => results.push(`${name} written`),
      (error: ConnectorError) => results.push(`${name} ${error.code}`),
    );
  };
  const end = async (name: string, result?: WriteResult | ConnectorError): Promise<void> => {
    const pending = writes.get(name);
    writes.delete(name);
    clock.advance(50);
    if (result instanceof ConnectorError) pending?.reject(result);
    else pending?.resolve(result);
    await settle();
  };
  /** Writes batches until several may be written at a time. */
  const warmUp = async (limit: number): Promise<void> => {
    for (let round = 0; limiter.limit < limit; round += 1) {
      const names = Array.from({ length: limiter.limit }, (_, index) => `w${round}.${index}`);
      for (const name of names) write(name);
      await settle();
      for (const name of names) {
        await end(name);
        lanes.get(name)?.end();
      }
    }
    results.length = 0;
  };
  return { clock, stopping, aborted, limiter, lanes, writes, results, write, end, warmUp };
}

const down = new ConnectorError('upstream_error', 'It has a problem.', 'retry');
const throttled = (afterMs: number) => new ConnectorError('rate_limited', 'Too fast.', 'throttled', afterMs);

test('starts with one write at a time and allows more as they succeed', async () => {
  const first = world();
  first.write('a');
  first.write('b');
  await settle();
  expect([...first.writes.keys()]).toEqual(['a']);
  expect(first.limiter.ready).toBe(false);
  const later = world();
  await later.warmUp(3);
  for (const name of ['a', 'b', 'c', 'd']) later.write(name);
  await settle();
  expect([...later.writes.keys()]).toEqual(['a', 'b', 'c']);
});

test('a throttled write holds all others until the requested delay is over', async () => {
  const { clock, writes, write, end, warmUp, limiter } = world();
  await warmUp(4);
  write('a');
  write('b');
  await settle();
  await end('a', throttled(10_000));
  write('c');
  await end('b');
  expect(writes.size).toBe(0);
  expect(limiter.ready).toBe(false);
  clock.advance(9_000);
  await settle();
  expect(writes.size).toBe(0);
  clock.advance(2_000);
  await settle();
  expect([...writes.keys()]).toEqual(['c']);
});

test('a throttled part of a batch holds the others, too', async () => {
  const { writes, write, end, warmUp } = world();
  await warmUp(4);
  write('a');
  await settle();
  await end('a', { retry: { indexes: [0], reason: 'busy', throttled: true, afterMs: 5_000 } });
  write('b');
  await settle();
  expect(writes.size).toBe(0);
});

test('a batch that fails again and again does not hold the others while they succeed', async () => {
  const { writes, write, end, warmUp, results } = world();
  await warmUp(4);
  for (let round = 0; round < 6; round += 1) {
    write('bad');
    write(`good${round}`);
    await settle();
    await end('bad', down);
    expect(writes.has(`good${round}`)).toBe(true);
    await end(`good${round}`);
  }
  expect(results.filter((result) => result.endsWith('written'))).toHaveLength(6);
});

test('while nothing succeeds, tests the destination with one write at a time, at growing intervals', async () => {
  const { clock, writes, write, end, warmUp } = world();
  await warmUp(4);
  for (const name of ['a', 'b', 'c', 'd']) write(name);
  await settle();
  for (const name of ['a', 'b', 'c', 'd']) await end(name, down);
  const waits: number[] = [];
  for (const name of ['e', 'f', 'g']) write(name);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await settle();
    const before = clock.now();
    while (writes.size === 0) {
      clock.advance(100);
      await settle();
    }
    waits.push(clock.now() - before);
    expect(writes.size).toBe(1);
    await end([...writes.keys()][0] ?? '', down);
  }
  expect(waits[1]).toBeGreaterThan(waits[0] ?? 0);
  expect(waits[2]).toBeGreaterThan(waits[1] ?? 0);
});

test('a failed lane that tries again, or ends, no longer holds the others', async () => {
  for (const next of ['write', 'end'] as const) {
    const { lanes, writes, write, end, warmUp } = world();
    await warmUp(2);
    write('a');
    await settle();
    await end('a', throttled(60_000));
    write('b');
    await settle();
    expect(writes.size).toBe(0);
    if (next === 'write') write('a');
    else lanes.get('a')?.end();
    await settle();
    expect(writes.has('b')).toBe(true);
  }
});

test('on stop, finishes writes in progress and gives up those that are held', async () => {
  const { stopping, writes, write, end, warmUp, results, limiter } = world();
  await warmUp(3);
  write('a');
  write('b');
  await settle();
  await end('a', throttled(60_000));
  write('c');
  stopping.abort();
  await settle();
  expect(limiter.abandoned.aborted).toBe(true);
  expect([...writes.keys()]).toEqual(['b']);
  await end('b');
  expect(results).toEqual(['a rate_limited', 'c stopped', 'b written']);
});

test('on stop, starts no further write after a failure', async () => {
  const { stopping, writes, write, end, results } = world();
  write('a');
  write('b');
  await settle();
  stopping.abort();
  await end('a', down);
  expect(writes.size).toBe(0);
  expect(results).toEqual(['a upstream_error', 'b stopped']);
});

test('leaves no sleep behind when it is closed', async () => {
  const { clock, limiter, write, end, warmUp } = world();
  await warmUp(2);
  write('a');
  await settle();
  await end('a', throttled(60_000));
  expect(clock.sleepers).toBe(1);
  limiter.close();
  expect(clock.sleepers).toBe(0);
});
