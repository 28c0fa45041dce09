import { afterEach, expect, test } from 'vitest';
import { attempt, noted, numbersIn, outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { createCertificate, type Certificate } from '../../../../test/support/certificate.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createBatch } from '@connector-frame/engine/connector-api';
import { createSplunkOutput } from './output.js';

const TOKEN = 'canary00-4758-4f45-bca7-c910ccc746eb';
const PASSWORD = 'canary/password "0002" ü+';

/** Responds as the collector is documented: checks the token first, then the data. */
function hec({ method, url, headers, body }: Received): Reply {
  if (method !== 'POST' || url !== '/services/collector/event') return { status: 404 };
  if (headers.authorization !== `Splunk ${TOKEN}`) return { status: 403, body: { text: 'Invalid token', code: 4 } };
  if (body === '') return { status: 400, body: { text: 'No data', code: 5 } };
  return { body: { text: 'Success', code: 0 } };
}

function configFor(origin: string, changes: Record<string, unknown> = {}) {
  const { protocol, hostname, port } = new URL(origin);
  return {
    settings: { url: `${protocol}//${hostname}`, port, ...changes },
    secrets: { token: TOKEN, ...('to_create' in changes && { password: PASSWORD }) },
  };
}

runOutputContract('splunk', {
  type: 'output:splunk',
  at: (origin) => ({ create: createSplunkOutput(), config: configFor(origin) }),
  accept: hec,
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function outputFor(
  changes: Record<string, unknown> = {},
  respond: (request: Received) => Reply = hec,
  certificate?: Certificate,
) {
  const { origin, port } = (server = await startVendor(respond, certificate));
  const create = createSplunkOutput({ managementPort: String(port) });
  return create(configFor(origin, changes), outputContext('output:splunk'));
}
const events = (): unknown[] =>
  server?.requests.flatMap(({ body }) => body.split('\n').filter(Boolean)).map((line): unknown => JSON.parse(line)) ??
  [];

test('sends a record as an event with index, source and source type', async () => {
  await attempt(await outputFor({ index: 'main', source: 'a "b"', sourcetype: '_json' }), noted(2));
  const [first, second] = noted(2).records;
  const about = { index: 'main', source: 'a "b"', sourcetype: '_json' };
  expect(events()).toEqual([
    { ...about, event: first },
    { ...about, event: second },
  ]);
  expect(server?.requests[1]?.headers['x-splunk-request-channel']).toMatch(/^[0-9a-f-]{36}$/);
});

test('takes the time from the configured field', async () => {
  const times = ['2026-01-02T03:04:05.678Z', 1767323045.678, 1767323045678, '1767323045', 'yesterday', null, 0];
  const lines = times.map((at, n) => JSON.stringify({ n, meta: { at } }));
  await attempt(await outputFor({ time_field: 'meta.at' }), createBatch('b', lines));
  const [a, b, c, d, ...none] = events();
  for (const event of [a, b, c]) expect(event).toMatchObject({ time: 1767323045.678 });
  expect(d).toMatchObject({ time: 1767323045 });
  for (const event of none) expect(event).not.toHaveProperty('time');
});

test('rejects one event; those around it arrive, each twice at most', async () => {
  const bad = new Set([2, 3, 7]);
  const stored: number[] = [];
  const output = await outputFor({}, (request) => {
    const sent = numbersIn(request);
    const place = sent.findIndex((n) => bad.has(n));
    // Splunk stores the events before the one it rejects, without reporting that.
    stored.push(...(place < 0 ? sent : sent.slice(0, place)));
    if (place < 0) return hec(request);
    return { status: 400, body: { text: 'Invalid data format', code: 6, 'invalid-event-number': place } };
  });
  expect(await attempt(output, noted(10))).toMatchObject({
    written: [0, 1, 4, 5, 6, 8, 9],
    rejected: [{ n: 2, reason: expect.stringContaining('HEC code 6') }, { n: 3 }, { n: 7 }],
  });
  expect(new Set(stored)).toEqual(new Set([0, 1, 4, 5, 6, 8, 9]));
  for (const n of stored) expect(stored.filter((other) => other === n).length).toBeLessThanOrEqual(2);
});

test('isolates a rejected event by bisection if its number is missing or wrong', async () => {
  for (const place of [undefined, 99, -1, '1']) {
    const output = await outputFor({}, (request) =>
      numbersIn(request).includes(5)
        ? { status: 400, body: { code: 13, ...(place !== undefined && { 'invalid-event-number': place }) } }
        : hec(request),
    );
    expect(await attempt(output, noted(8))).toMatchObject({ written: [0, 1, 2, 3, 4, 6, 7], rejected: [{ n: 5 }] });
    await server?.close();
  }
});

test.each([
  [403, 1, 'forbidden', 'permanent'],
  [401, 2, 'invalid_credentials', 'permanent'],
  [401, 3, 'invalid_credentials', 'permanent'],
  [403, 4, 'invalid_credentials', 'permanent'],
  [400, 7, 'invalid_index', 'permanent'],
  [500, 8, 'upstream_error', 'retry'],
  [503, 9, 'rate_limited', 'throttled'],
  [503, 23, 'rate_limited', 'throttled'],
  [429, 26, 'rate_limited', 'throttled'],
  [400, 10, 'rejected', 'permanent'],
])('%i with code %i is %s, %s', async (status, code, expected, kind) => {
  const output = await outputFor({}, (request) => (request.body === '' ? hec(request) : { status, body: { code } }));
  const { failure, rejected } = await attempt(output, noted(2));
  expect(failure).toMatchObject({ code: expected, kind });
  expect(rejected).toEqual([]);
});

test('reports a wrong token before it sends a record', async () => {
  const output = await outputFor({}, () => ({ status: 403, body: { text: 'Invalid token', code: 4 } }));
  await expect(output.open?.(new AbortController().signal)).rejects.toMatchObject({ code: 'invalid_credentials' });
  expect(events()).toEqual([]);
});

test('limits requests to a million bytes', async () => {
  const lines = Array.from({ length: 5 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(400_000) }));
  expect(await attempt(await outputFor(), createBatch('b', lines))).toMatchObject({ written: [0, 1, 2, 3, 4] });
  for (const { bytes } of server?.requests ?? []) expect(bytes.length).toBeLessThanOrEqual(1_000_000);
});

test('accepts any certificate if verification is disabled', async () => {
  const certificate = createCertificate('splunk.example');
  expect((await attempt(await outputFor({}, hec, certificate), noted(1))).failure?.code).toBe('tls_failed');
  await server?.close();
  const output = await outputFor({ allow_insecure: true }, hec, certificate);
  expect(await attempt(output, noted(1))).toMatchObject({ written: [0] });
});

const create = { to_create: true, index: 'new', username: 'admin' };

test.each([201, 409])('creates the index before sending, unless it exists: %i', async (status) => {
  const output = await outputFor(create, (request) =>
    request.url.startsWith('/services/data/') ? { status } : hec(request),
  );
  expect(await attempt(output, noted(1))).toMatchObject({ written: [0] });
  expect(server?.requests[0]).toMatchObject({
    url: '/services/data/indexes?output_mode=json',
    body: 'name=new',
    headers: { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` },
  });
});

test('reports a user that may not create the index, without the password', async () => {
  const output = await outputFor(create, ({ headers }) => ({ status: 401, body: JSON.stringify(headers) }));
  const { failure, error } = await attempt(output, noted(1));
  expect(failure).toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  expect(JSON.stringify(failure) + String(error)).not.toContain('canary');
});

test.each([{ port: 'eight' }, { url: 'http://[' }, { time_field: 'a..b' }, { to_create: true }])(
  'rejects the configuration %j',
  async (changes) => {
    await expect(outputFor(changes)).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent' });
  },
);
