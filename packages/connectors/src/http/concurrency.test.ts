/** The real output writes to a real server on loopback, with one stored batch per append. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { listenHttp } from '../../../../test/support/listener.js';
import { push } from '../../../../test/support/pipeline-parts.js';
import { createEgress } from '@connector-frame/engine/egress';
import { isRecord, type Ordering, type Output, systemClock } from '@connector-frame/engine/connector-api';
import { graph, numbered, numbersUpTo, openWorld, seededRandom } from '@connector-frame/engine/testing';
import { createHttpOutput } from './output.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const definition = graph('in out', 'in>out');
const numberOf = (record: unknown): number => (isRecord(record) ? Number(record['n']) : Number.NaN);
const sorted = (numbers: Iterable<number>): number[] => [...numbers].toSorted((a, b) => a - b);

interface Destination {
  url: string;
  /** The field `n` of the records of each request, also of those that failed afterwards. */
  requests: number[][];
  /** Most requests at a time. */
  atOnce: number;
}

/** @param respond resolves with the status, or `undefined` to close the connection */
async function serve(respond: (numbers: number[]) => Promise<number | undefined>): Promise<Destination> {
  let inFlight = 0;
  const answer = async (response: ServerResponse, numbers: number[]): Promise<void> => {
    inFlight += 1;
    destination.atOnce = Math.max(destination.atOnce, inFlight);
    const status = await respond(numbers);
    inFlight -= 1;
    if (status === undefined) response.destroy();
    else response.writeHead(status).end();
  };
  const listener = await listenHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const records: unknown = JSON.parse(Buffer.concat(chunks).toString());
      const numbers = (Array.isArray(records) ? records : [records]).map(numberOf);
      destination.requests.push(numbers);
      void answer(response, numbers);
    });
  }, '127.0.0.1');
  ends.push(() => listener.close());
  const destination: Destination = { url: `${listener.origin}/in`, requests: [], atOnce: 0 };
  return destination;
}

function outputTo({ url }: Destination, settings: Record<string, unknown> = {}): Output {
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  ends.push(() => egress.close?.());
  const all = { endpoint: url, method: 'POST', payload_structure: 'array', ...settings };
  return createHttpOutput({ settings: all, secrets: {} }, { type: typeOf('output:http'), egress, clock: systemClock });
}

const wait = (ms: number) => systemClock.sleep(ms);

test('joins the records that arrive during a request into one, however many requests they came in', async () => {
  const held = new AbortController();
  const server = await serve(async () => {
    await systemClock.sleep(60_000, held.signal);
    return 200;
  });
  const world = await openWorld();
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out: outputTo(server) } });
  await runner.start();
  for (let n = 0; n < 170; n += 1) await runner.sink.append(numbered(1, n));
  held.abort();
  await expect.poll(() => new Set(server.requests.flat()).size, { timeout: 10_000 }).toBe(170);
  expect(server.requests.flat()).toEqual(numbersUpTo(170));
  // The first record is sent at once, the others after a second, unless this test takes longer.
  expect(server.requests.length).toBeLessThan(10);
});

test('writes several full requests at a time to a destination with latency', async () => {
  const server = await serve(async () => {
    await wait(20);
    return 200;
  });
  const world = await openWorld();
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out: outputTo(server) } });
  await runner.start();
  for (let n = 0; n < 20_000; n += 200) await runner.sink.append(numbered(200, n));
  await expect.poll(() => server.requests.flat().length, { timeout: 20_000 }).toBe(20_000);
  expect(sorted(server.requests.flat())).toEqual(numbersUpTo(20_000));
  expect(server.atOnce).toBeGreaterThan(1);
  expect(server.atOnce).toBeLessThanOrEqual(32);
  // 40 full requests. One that waited for a second may have fewer records.
  expect(server.requests.length).toBeLessThan(60);
  await expect.poll(async () => (await runner.state()).waiting).toBe(0);
});

test('writes one record per request, several at a time, if the settings ask for that', async () => {
  const server = await serve(async () => {
    await wait(5);
    return 200;
  });
  const world = await openWorld();
  const out = outputTo(server, { payload_structure: 'single' });
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out } });
  await runner.start();
  await runner.sink.append(numbered(500));
  await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBe(500);
  expect(sorted(server.requests.flat())).toEqual(numbersUpTo(500));
  expect(server.atOnce).toBeGreaterThan(1);
});

test('a request that fails does not hold up the others beyond a bound, and is acknowledged with them', async () => {
  let broken = true;
  const server = await serve((numbers) => Promise.resolve(broken && numbers.includes(0) ? 500 : 200));
  const world = await openWorld();
  const out = { ...outputTo(server, { max_batch_record_count: 10 }), maxConcurrency: 4 };
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out } });
  await runner.start();
  for (let n = 0; n < 500; n += 5) await runner.sink.append(numbered(5, n));
  // Eight requests of up to ten records: twice the concurrency.
  await expect.poll(() => new Set(server.requests.flat()).size).toBeGreaterThanOrEqual(60);
  await expect.poll(() => server.requests.filter((numbers) => numbers.includes(0)).length).toBeGreaterThan(5);
  expect(new Set(server.requests.flat()).size).toBeLessThanOrEqual(80);
  expect((await world.bus.stats('p.in')).records).toBe(500);
  broken = false;
  await expect.poll(async () => (await world.bus.stats('p.in')).records, { timeout: 10_000 }).toBe(0);
  expect(sorted(new Set(server.requests.flat()))).toEqual(numbersUpTo(500));
});

const KEYS = 5;
const byKey: Ordering = { key: (record) => String(numberOf(record) % KEYS) };

test.each<[name: string, ordering: Ordering, sequences: number]>([
  ['in any order', 'none', 0],
  ['in order', 'stream', 1],
  ['in order per key', byKey, KEYS],
])(
  'every record arrives %s through random latencies, failures and restarts',
  async (_name, ordering, sequences) => {
    const random = seededRandom(sequences + 11);
    const arrived = new Set<number>();
    const late: number[] = [];
    const newest = new Map<number, number>();
    const server = await serve(async (numbers) => {
      const [latency, fault] = [random() * 20, random()];
      await wait(random() < 0.5 ? 0 : latency);
      // A dropped connection may have stored the records.
      if (fault < 0.1) return fault < 0.05 ? 500 : 429;
      for (const n of numbers) {
        if (arrived.has(n)) continue;
        arrived.add(n);
        const sequence = sequences === 0 ? n : n % sequences;
        if (n < (newest.get(sequence) ?? -1)) late.push(n);
        newest.set(sequence, n);
      }
      return fault < 0.15 ? undefined : 200;
    });
    const world = await openWorld();
    let atOnce = 0;
    const start = async () => {
      const http = outputTo(server, { max_batch_record_count: 40 });
      const batching = http.batching && { ...http.batching, waitMs: 10 };
      // Of this run: a request that the previous one has aborted may still be in progress.
      let inFlight = 0;
      const out: Output = {
        ...http,
        ordering,
        ...(batching && { batching }),
        async write(batch, signal) {
          inFlight += 1;
          atOnce = Math.max(atOnce, inFlight);
          try {
            return await http.write(batch, signal);
          } finally {
            inFlight -= 1;
          }
        },
      };
      const runner = world.runner({
        definition,
        inputs: { in: push },
        outputs: { out },
        // Aborts what is in progress.
        limits: { grace: 1 },
      });
      await runner.start();
      return runner;
    };
    const total = 3_000;
    let runner = await start();
    for (let n = 0; n < total;) {
      const count = Math.min(total - n, 1 + Math.floor(random() * 60));
      await runner.sink.append(numbered(count, n));
      n += count;
      if (random() < 0.05) {
        await runner.stop();
        runner = await start();
      }
    }
    await expect.poll(() => arrived.size, { timeout: 30_000 }).toBe(total);
    await expect.poll(async () => (await world.bus.stats('p.in')).records, { timeout: 10_000 }).toBe(0);
    expect(late).toEqual([]);
    if (ordering === 'stream') expect(atOnce).toBe(1);
    else expect(atOnce).toBeGreaterThan(1);
  },
  60_000,
);
