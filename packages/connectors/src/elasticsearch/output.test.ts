import { afterEach, expect, test } from 'vitest';
import { createFakeCluster, type Verdict } from '../../../../test/support/fake-cluster.js';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { createCertificate } from '../../../../test/support/certificate.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, type Batch } from '@connector-frame/engine/connector-api';
import { createElasticsearchOutput } from './output.js';

const KEY = 'canary0VuaCZfZuY0NlYXJjaDoxMjM0NQ';
const PASSWORD = 'canary/password "0003" ü+';
const configFor = (origin: string, changes: Record<string, unknown> = {}) => ({
  settings: {
    index: 'logs-security-default',
    auth_config: { type: 'api_key' },
    connection_config: { type: 'url', url: { endpoint: `${origin}/` } },
    ...changes,
  },
  secrets: { api_key: KEY, password: PASSWORD },
});

runOutputContract('elasticsearch', {
  type: 'output:elasticsearch',
  at: (origin) => ({ create: createElasticsearchOutput, config: configFor(origin) }),
  accept: (request) => createFakeCluster(`ApiKey ${KEY}`).respond(request),
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function outputFor(respond: (request: Received) => Reply, changes: Record<string, unknown> = {}) {
  const { origin } = (server = await startVendor(respond));
  return createElasticsearchOutput(configFor(origin, changes), outputContext('output:elasticsearch'));
}
const lookup = () => Promise.resolve(['127.0.0.1']);
const clusterWith = (verdict: Verdict) => createFakeCluster(`ApiKey ${KEY}`, verdict);

test('uses the record ids as document ids, so a retry creates no duplicates', async () => {
  const cluster = clusterWith(() => undefined);
  const output = await outputFor(cluster.respond);
  expect(await attempt(output, noted(3))).toEqual({ written: [0, 1, 2], rejected: [] });
  expect(await attempt(output, noted(3))).toEqual({ written: [0, 1, 2], rejected: [] });
  expect([...cluster.documents]).toEqual(noted(3).records.map((record, n) => [`batch-0.${n}`, record]));
  const [, first] = server?.requests ?? [];
  expect(first?.body.split('\n')[0]).toBe('{"create":{"_index":"logs-security-default","_id":"batch-0.0"}}');
});

test('handles each item: written, existing, rejected, busy, failed', async () => {
  const given = new Map([
    [1, { status: 409 }],
    [2, { status: 400, error: { type: 'document_parsing_exception', reason: 'upstream words' } }],
    [3, { status: 429, error: { type: 'es_rejected_execution_exception' } }],
    [4, { status: 503 }],
    [5, { status: 413, error: { type: 'anything' } }],
  ]);
  const output = await outputFor(clusterWith(({ n }) => given.get(Number(n))).respond);
  const { written, rejected, failure } = await attempt(output, noted(7));
  expect(written).toEqual([0, 1, 6]);
  expect(rejected).toEqual([
    { n: 2, reason: 'A field does not fit the mapping of the index.' },
    { n: 5, reason: 'Elasticsearch does not accept this record (status 413).' },
  ]);
  expect(failure).toMatchObject({ kind: 'throttled' });
  given.clear();
  expect(await attempt(output, noted(7).pick([3, 4]))).toMatchObject({ written: [3, 4] });
});

test.each([
  [429, 'throttled'],
  [503, 'retry'],
  [403, 'permanent'],
  [404, 'permanent'],
])('%i for every item is %s for the output', async (status, kind) => {
  const { failure, rejected } = await attempt(await outputFor(clusterWith(() => ({ status })).respond), noted(3));
  expect([failure?.kind, rejected]).toEqual([kind, []]);
});

test('puts nothing in the dead letters if the index may not be written', async () => {
  const output = await outputFor(clusterWith(({ n }) => (n === 1 ? { status: 403 } : undefined)).respond);
  expect(await attempt(output, noted(3))).toMatchObject({ written: [0, 2], rejected: [], failure: { kind: 'retry' } });
});

test('adds a timestamp for a data stream, but not for an index', async () => {
  const cluster = clusterWith((document) =>
    '@timestamp' in document
      ? undefined
      : {
          status: 400,
          error: {
            type: 'document_parsing_exception',
            reason: '[1:2] failed to parse',
            caused_by: { reason: 'data stream timestamp field [@timestamp] is missing' },
          },
        },
  );
  const output = await outputFor(cluster.respond);
  const lines = ['{"n":0}', '{"n":1,"@timestamp":"2020-01-01T00:00:00Z"}', '{"n":2,"in":{"@timestamp":1}}', '{}'];
  const { rejected, failure } = await attempt(output, createBatch('b', lines));
  expect([rejected, failure]).toEqual([[], undefined]);
  const time = expect.stringMatching(/^20\d\d-\d\d-\d\dT.*Z$/);
  expect([...cluster.documents]).toEqual([
    ['b.1', { n: 1, '@timestamp': '2020-01-01T00:00:00Z' }],
    ['b.0', { n: 0, '@timestamp': time }],
    ['b.2', { n: 2, '@timestamp': time, in: { '@timestamp': 1 } }],
    ['b.3', { '@timestamp': time }],
  ]);
  await attempt(output, noted(1, 10));
  expect(server?.requests).toHaveLength(4 + 1);
});

test.each([
  ['no items', { errors: false }],
  ['fewer items', { errors: false, items: [{ create: { status: 201 } }] }],
  ['other items', { errors: false, items: [{ index: { status: 201 } }, { index: { status: 201 } }] }],
  ['a list', []],
])('treats a response with %s as a failure', async (_name, body) => {
  const output = await outputFor(({ method }) => (method === 'GET' ? {} : { body }));
  expect(await attempt(output, noted(2))).toMatchObject({ written: [], failure: { code: 'unexpected_answer' } });
});

test('isolates a record that is too large after 413', async () => {
  const cluster = clusterWith(() => undefined);
  const output = await outputFor((request) =>
    request.body.includes('"n":3') ? { status: 413 } : cluster.respond(request),
  );
  expect(await attempt(output, noted(8))).toMatchObject({ written: [0, 1, 2, 4, 5, 6, 7], rejected: [{ n: 3 }] });
});

test('reads a response with 500 long errors', async () => {
  const error = { type: 'mapper_parsing_exception', reason: 'x'.repeat(5_000) };
  const output = await outputFor(clusterWith(() => ({ status: 400, error })).respond);
  const { rejected } = await attempt(output, noted(500));
  expect(rejected).toHaveLength(500);
});

test('signs in with user and password, and reports a wrong one before it sends a record', async () => {
  const basic = `Basic ${Buffer.from(`writer:${PASSWORD}`).toString('base64')}`;
  const changes = { auth_config: { type: 'password' }, username: 'writer' };
  const output = await outputFor(createFakeCluster(basic).respond, changes);
  expect(await attempt(output, noted(1))).toMatchObject({ written: [0] });
  await server?.close();
  const wrong = await outputFor(createFakeCluster('Basic other').respond, changes);
  await expect(wrong.open?.(new AbortController().signal)).rejects.toMatchObject({ code: 'invalid_credentials' });
});

test('writes to a cluster without security features', async () => {
  const cluster = clusterWith(() => undefined);
  const output = await outputFor((request) => (request.method === 'GET' ? { status: 400 } : cluster.respond(request)));
  expect(await attempt(output, noted(1))).toMatchObject({ written: [0] });
});

test('resolves a cloud id to its cluster', async () => {
  const certificate = createCertificate('cluster.cloud.example');
  server = await startVendor(createFakeCluster(`ApiKey ${KEY}`).respond, certificate);
  const id = `acme:${Buffer.from(`cloud.example:${server.port}$cluster$kibana`).toString('base64')}`;
  const config = configFor('', { connection_config: { type: 'cloud_id', cloud_id: { id } } });
  const egress = createEgress({ allow: ['127.0.0.0/8'], ca: certificate.cert, lookup });
  const context = outputContext('output:elasticsearch', egress);
  expect(await attempt(createElasticsearchOutput(config, context), noted(1))).toMatchObject({ written: [0] });
  expect(server.requests[0]?.headers.host).toBe(`cluster.cloud.example:${server.port}`);
});

test('splits a batch of large records into several requests', async () => {
  const cluster = clusterWith(() => undefined);
  const output = await outputFor(cluster.respond);
  const large: Batch = createBatch(
    'b',
    Array.from({ length: 4 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(2_000_000) })),
  );
  expect(await attempt(output, large)).toMatchObject({ written: [0, 1, 2, 3] });
  expect(server?.requests).toHaveLength(3);
});

test.each([{ connection_config: undefined }, { index: '' }, { auth_config: { type: 'password' }, username: '' }])(
  'rejects the configuration %j',
  async (changes) => {
    const made = outputFor(createFakeCluster('x').respond, changes);
    if ('username' in changes)
      await expect(made.then((output) => attempt(output, noted(1)))).resolves.toMatchObject({ written: [] });
    else await expect(made).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent' });
  },
);
