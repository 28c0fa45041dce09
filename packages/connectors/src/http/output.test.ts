import { afterEach, expect, test } from 'vitest';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { attempt, hurriedClock, noted, numbersIn } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createHttpOutput } from './output.js';

const secrets = { auth_headers: { Authorization: 'Bearer canary/http "0001" secret+' } };
const configFor = (origin: string, changes: Record<string, unknown> = {}) => ({
  settings: { endpoint: `${origin}/in`, method: 'POST', payload_structure: 'array', ...changes },
  secrets,
});

runOutputContract('http', {
  type: 'output:http',
  at: (origin) => ({ create: createHttpOutput, config: configFor(origin) }),
  accept: ({ headers }) => ({ status: headers.authorization === secrets.auth_headers.Authorization ? 202 : 401 }),
  anyPagePasses: true,
});

runOutputContract('http, one record a request', {
  type: 'output:http',
  at: (origin) => ({ create: createHttpOutput, config: configFor(origin, { payload_structure: 'single' }) }),
  accept: () => ({ status: 204 }),
  anyPagePasses: true,
});

let server: Vendor | undefined;
afterEach(() => server?.close());
const clock = hurriedClock();

async function outputFor(changes: Record<string, unknown>, respond: (request: Received) => Reply = () => ({})) {
  const { origin } = (server = await startVendor(respond));
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  return createHttpOutput(configFor(origin, changes), { type: typeOf('output:http'), egress, clock });
}
const bodies = (): unknown[] => server?.requests.map(({ body }): unknown => JSON.parse(body)) ?? [];
const records = noted(3).records;

test.each([
  [{ payload_structure: 'array' }, [records]],
  [{ payload_structure: 'wrapped', wrapper_key: 'the "events"' }, [{ 'the "events"': records }]],
  [{ payload_structure: 'single' }, records],
  [{ max_batch_record_count: 2 }, [records.slice(0, 2), records.slice(2)]],
  [{ max_batch_data_size: 60 }, [[records[0]], [records[1]], [records[2]]]],
])('%j', async (changes, expected) => {
  expect(await attempt(await outputFor(changes), noted(3))).toMatchObject({ written: [0, 1, 2] });
  expect(bodies()).toEqual(expected);
});

test('sends the configured method and headers; secret headers take precedence', async () => {
  const headers = [
    { header_key: 'X-Team', header_value: 'acme' },
    { header_key: 'authorization', header_value: 'open' },
    { header_key: 'Idempotency-Key', header_value: 'always the same would drop everything' },
  ];
  await attempt(await outputFor({ headers, method: 'PUT' }), noted(1));
  expect(server?.requests[0]).toMatchObject({
    method: 'PUT',
    headers: {
      'x-team': 'acme',
      authorization: secrets.auth_headers.Authorization,
      'content-type': 'application/json',
      'idempotency-key': 'batch-0',
    },
  });
});

test('repeats the idempotency key of the batch, its part or its record in every retry', async () => {
  const keys = (): unknown[] => server?.requests.map(({ headers }) => headers['idempotency-key']) ?? [];
  await attempt(await outputFor({ payload_structure: 'single' }), noted(3));
  expect(keys()).toEqual(['batch-0.0', 'batch-0.1', 'batch-0.2']);
  await server?.close();
  const output = await outputFor({ max_batch_record_count: 2 });
  await attempt(output, noted(3));
  await attempt(output, noted(3));
  const [first, second, ...again] = keys();
  expect(again).toEqual([first, second]);
  expect(new Set(keys()).size).toBe(2);
});

test.each([400, 413, 422])('isolates the rejected records after %i', async (status) => {
  const bad = new Set([3, 250, 251, 499]);
  const output = await outputFor({}, (request) => (numbersIn(request).some((n) => bad.has(n)) ? { status } : {}));
  const { written, rejected, failure } = await attempt(output, noted(500));
  expect(rejected.map(({ n }) => n)).toEqual([...bad]);
  expect(rejected[0]?.reason).toContain(String(status));
  expect([written.length, failure]).toEqual([496, undefined]);
  expect(server?.requests.length).toBeLessThan(80);
});

test('leaves it to the engine to find out which record of a refused request is bad', async () => {
  const output = await outputFor({}, () => ({ status: 400 }));
  const result = await output.write(noted(500), new AbortController().signal);
  expect(result.refused).toMatchObject([{ indexes: expect.any(Array), reason: expect.stringContaining('400') }]);
  expect([result.refused?.[0]?.indexes.length, server?.requests.length]).toEqual([500, 1]);
});

test('stops after ten refused requests of one record each', async () => {
  const output = await outputFor({ payload_structure: 'single' }, () => ({ status: 400 }));
  const { refused, unsent } = await output.write(noted(500), new AbortController().signal);
  expect([refused?.length, unsent?.length, server?.requests.length]).toEqual([10, 490, 10]);
});

test('retries from the failed part without the parts already written', async () => {
  const output = await outputFor({ payload_structure: 'single' }, (request) => {
    const [n] = numbersIn(request);
    if (n === 1) return { status: 400 };
    return n === 3 ? { status: 429, headers: { 'retry-after': '9' } } : {};
  });
  expect(await attempt(output, noted(5))).toMatchObject({
    written: [0, 2],
    rejected: [{ n: 1 }],
    failure: { kind: 'throttled', afterMs: 9_000 },
  });
  expect(server?.requests).toHaveLength(4);
});

test.each([
  [404, 'permanent'],
  [405, 'permanent'],
  [408, 'retry'],
  [409, 'retry'],
  [415, 'permanent'],
  [425, 'retry'],
  [304, 'permanent'],
])('a response of %i is %s and loses nothing', async (status, kind) => {
  const { failure, rejected } = await attempt(await outputFor({}, () => ({ status })), noted(2));
  expect([failure?.kind, rejected]).toEqual([kind, []]);
});

test('parses a date in Retry-After', async () => {
  const at = new Date(clock.now() + 60_000).toUTCString();
  const output = await outputFor({}, () => ({ status: 503, headers: { 'retry-after': at } }));
  const { failure } = await attempt(output, noted(1));
  expect(failure?.kind).toBe('throttled');
  expect(Math.abs((failure?.afterMs ?? 0) - 60_000)).toBeLessThan(1_001);
});

test('keeps to the configured requests per second', async () => {
  const before = clock.slept;
  await attempt(await outputFor({ payload_structure: 'single', rate_limit: 4 }), noted(9));
  expect(clock.slept - before).toBe(2_000);
});

test('ignores a long response body', async () => {
  expect(await attempt(await outputFor({}, () => ({ body: 'x'.repeat(1_000_000) })), noted(1))).toMatchObject({
    written: [0],
  });
});

test.each([
  [{ method: 'GET' }, 'GET carries no records'],
  [{ method: 'DELETE' }, 'DELETE carries no records'],
  [{ endpoint: '' }, 'no address'],
  [{ headers: [{ header_key: 'Host', header_value: 'other.example' }] }, 'header'],
])('rejects the configuration %j', async (changes, message) => {
  await expect(outputFor(changes)).rejects.toMatchObject({
    name: 'ConnectorError',
    code: 'invalid_config',
    kind: 'permanent',
    message: expect.stringContaining(message),
  });
});
