/** Tests a complete pipeline against a server with all kinds of failures. */
import { afterEach, expect, test } from 'vitest';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { numbersIn } from '../../../../test/support/output-attempt.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { type Input, isRecord, type Output, systemClock } from '@connector-frame/engine/connector-api';
import { graph, numbered, numbersUpTo, openWorld } from '@connector-frame/engine/testing';
import { codes, fast, push, status } from '../../../../test/support/pipeline-parts.js';
import { createHttpOutput } from './output.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function serve(respond: (request: Received) => Reply): Promise<Vendor> {
  const server = await startVendor(respond);
  ends.push(() => server.close());
  return server;
}
function outputTo({ origin }: Vendor, changes: Record<string, unknown> = {}): Output {
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  ends.push(() => egress.close?.());
  const settings = { endpoint: `${origin}/in`, method: 'POST', payload_structure: 'array', ...changes };
  const secrets = { auth_headers: { Authorization: 'Bearer canary-token' } };
  return createHttpOutput({ settings, secrets }, { type: typeOf('output:http'), egress, clock: systemClock });
}

/** Starts a pipeline with one output. */
async function startTo(out: Output, input: Input = push) {
  const world = await openWorld();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: input }, outputs: { out } });
  await runner.start();
  return { world, runner };
}

/** A server that deduplicates by `Idempotency-Key` and keeps the records it accepts. */
function keeper() {
  const keys = new Set<string>();
  const taken: number[] = [];
  return {
    taken,
    take(request: Received): Reply {
      const key = String(request.headers['idempotency-key']);
      if (!keys.has(key)) taken.push(...numbersIn(request));
      keys.add(key);
      return { status: 202 };
    },
  };
}
const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

test('delivers all good records through every kind of failure, and counts bad ones as dead letters', async () => {
  const bad = new Set([7, 500, 501, 1_234, 1_999]);
  const kept = keeper();
  const faults: Reply[] = [
    { status: 500, body: 'canary-upstream' },
    { fault: 'drop' },
    { status: 429, headers: { 'retry-after': '0' } },
    { status: 502 },
    { fault: 'half' },
    { status: 503, headers: { 'retry-after': '0' } },
    { status: 408 },
  ];
  let asked = 0;
  const server = await serve((request) => {
    asked += 1;
    const fault = asked % 2 === 0 ? faults[(asked / 2) % faults.length] : undefined;
    // For a truncated response (`half`), the server has stored the records all the same.
    if (fault && fault.fault !== 'half') return fault;
    const reply = numbersIn(request).some((n) => bad.has(n)) ? { status: 422 } : kept.take(request);
    return { ...reply, ...fault };
  });
  const { world, runner } = await startTo(outputTo(server));
  for (let from = 0; from < 2_000; from += 250)
    expect(await runner.sink.append(numbered(250, from))).toMatchObject({ stored: true });

  const good = numbersUpTo(2_000).filter((n) => !bad.has(n));
  await expect.poll(async () => (await runner.state()).egress.records).toBe(good.length);
  // Good records are counted when they are written, bad ones once they are stored.
  await expect.poll(async () => (await runner.state()).errors).toBe(bad.size);
  await expect.poll(() => status(runner)).toBe('Running');
  const state = await runner.state();
  expect(state).toMatchObject({ ingress: { records: 2_000 }, egress: { records: good.length } });
  expect(state.nodes.find(({ node_id }) => node_id === 'out')?.errors).toBe(bad.size);
  expect(new Set(kept.taken)).toEqual(new Set(good));
  const letters = await world.deadLetters();
  expect(sorted(letters.map(({ record }) => (isRecord(record) ? Number(record['n']) : -1)))).toEqual([...bad]);
  expect(letters[0]).toMatchObject({ node_id: 'out', reason: expect.stringContaining('422') });
  expect(JSON.stringify([state, runner.log.entries(), letters])).not.toContain('canary');
});

test('reports Erroring after the token is revoked, and loses nothing once it is valid again', async () => {
  const kept = keeper();
  let revoked = true;
  const server = await serve((request) => (revoked ? { status: 401, body: 'canary-upstream' } : kept.take(request)));
  const { world, runner } = await startTo(outputTo(server));
  await runner.sink.append(numbered(100));
  await expect.poll(() => status(runner)).toBe('Erroring');
  const { last_error } = await runner.state();
  expect(last_error).toMatchObject({ code: 'invalid_credentials', node_id: 'out' });
  expect(JSON.stringify([last_error, runner.log.entries()])).not.toContain('canary');
  revoked = false;
  await expect.poll(() => status(runner)).toBe('Running');
  expect(kept.taken).toEqual(numbersUpTo(100));
  expect(codes(runner)).toContain('recovered');
  expect(await world.deadLetters()).toEqual([]);
});

test('reports Throttled and sends no request before Retry-After', async () => {
  const kept = keeper();
  const times: number[] = [];
  const server = await serve((request) => {
    times.push(Date.now());
    return times.length === 1 ? { status: 429, headers: { 'retry-after': '1' } } : kept.take(request);
  });
  const { runner } = await startTo(outputTo(server));
  await runner.sink.append(numbered(10));
  await expect.poll(() => status(runner)).toBe('Throttled');
  await expect.poll(() => status(runner)).toBe('Running');
  expect(kept.taken).toEqual(numbersUpTo(10));
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
});

test('an output that hangs does not delay another one, and receives everything later', async () => {
  const [first, second] = [keeper(), keeper()];
  let hangs = true;
  const slow = await serve((request) => (hangs ? { fault: 'hang' } : first.take(request)));
  const quick = await serve((request) => second.take(request));
  const world = await openWorld();
  const runner = world.runner({
    definition: graph('in oslow oquick', 'in>oslow in>oquick'),
    inputs: { in: push },
    outputs: { oslow: outputTo(slow), oquick: outputTo(quick) },
  });
  await runner.start();
  for (let from = 0; from < 1_000; from += 100) await runner.sink.append(numbered(100, from));
  await expect.poll(() => second.taken.length).toBe(1_000);
  expect(first.taken).toEqual([]);
  hangs = false;
  // The pause aborts the hanging request; the next run starts with the same batch.
  await runner.pause();
  await runner.resume();
  await expect.poll(() => first.taken.length).toBe(1_000);
  expect(sorted(first.taken)).toEqual(numbersUpTo(1_000));
  expect(second.taken).toEqual(numbersUpTo(1_000));
});

test('delivers synthetic records in order through a server that fails at times', async () => {
  const kept = keeper();
  let asked = 0;
  const server = await serve((request) => ((asked += 1) % 3 === 0 ? { fault: 'drop' } : kept.take(request)));
  const { runner } = await startTo(outputTo(server, { max_batch_record_count: 100 }), fast(2_000));
  await expect.poll(async () => (await runner.state()).egress.records).toBe(2_000);
  expect(new Set(kept.taken)).toEqual(new Set(numbersUpTo(2_000)));
  expect(await status(runner)).toBe('Running');
});

test('resumes after a worker stops, and repeats the idempotency keys', async () => {
  const kept = keeper();
  const keys: string[] = [];
  const server = await serve((request) => {
    keys.push(String(request.headers['idempotency-key']));
    // The server stores the records but the response is lost, so the worker can't know.
    const reply = kept.take(request);
    return keys.length === 1 ? { fault: 'hang' } : reply;
  });
  const world = await openWorld();
  const parts = { definition: graph('in out', 'in>out'), inputs: { in: push } };
  const one = world.runner({ ...parts, outputs: { out: outputTo(server) }, holder: 'one' });
  await one.start();
  await one.sink.append(numbered(300));
  await expect.poll(() => keys.length).toBe(1);
  await one.stop();
  const two = world.runner({ ...parts, outputs: { out: outputTo(server) }, holder: 'two' });
  await two.start();
  await expect.poll(async () => (await two.state()).egress.records).toBe(300);
  expect(keys[1]).toBe(keys[0]);
  expect(kept.taken).toEqual(numbersUpTo(300));
});
