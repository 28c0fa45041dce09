import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { attempt, noted, numbersIn, outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch } from '@connector-frame/engine/connector-api';
import { createDatadogOutput } from './output.js';

const KEY = 'canary0datadog0key0123456789abcd';
const configFor = (changes: Record<string, unknown> = {}) => ({
  settings: { domain_url: 'https://http-intake.logs.datadoghq.eu', ...changes },
  secrets: { api_key: KEY },
});

function intake({ method, url, headers }: Received): Reply {
  if (headers['dd-api-key'] !== KEY) return { status: 403, body: { errors: ['Forbidden'] } };
  if (method === 'GET' && url === '/api/v1/validate') return { body: { valid: true } };
  if (method === 'POST' && url === '/api/v2/logs' && headers['content-encoding'] === 'gzip')
    return { status: 202, body: {} };
  return { status: 404 };
}

runOutputContract('datadog', {
  type: 'output:datadog',
  at: (origin) => ({
    create: createDatadogOutput({ intakeOf: () => origin, apiOf: () => origin }),
    config: configFor(),
  }),
  accept: intake,
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function outputFor(changes: Record<string, unknown> = {}, respond: (request: Received) => Reply = intake) {
  const { origin } = (server = await startVendor(respond));
  const create = createDatadogOutput({ intakeOf: () => origin, apiOf: () => origin });
  return create(configFor(changes), outputContext('output:datadog'));
}
interface Log {
  message: string;
}
const requests = (): Log[][] =>
  (server?.requests ?? [])
    .filter(({ method }) => method === 'POST')
    .map(({ bytes }): Log[] => JSON.parse(gunzipSync(bytes).toString()));

test('sends a record as the message of a log with the configured attributes', async () => {
  const about = { service: 'security', ddsource: 'okta', hostname: 'a "host"' };
  await attempt(await outputFor({ ...about, ddtags: ['env:prod', 'team:blue'] }), noted(2));
  expect(requests()).toEqual([noted(2).lines.map((message) => ({ ...about, ddtags: 'env:prod,team:blue', message }))]);
  await server?.close();
  await attempt(await outputFor(), noted(1));
  expect(requests()).toEqual([[{ message: noted(1).lines[0] }]]);
});

test('sends at most 1,000 logs and 5 MB per request', async () => {
  expect((await attempt(await outputFor(), noted(2_500))).written).toHaveLength(2_500);
  expect(requests().map((logs) => logs.length)).toEqual([1_000, 1_000, 500]);
  await server?.close();
  const large = Array.from({ length: 13 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(900_000) }));
  expect((await attempt(await outputFor(), createBatch('b', large))).written).toHaveLength(13);
  for (const { bytes } of server?.requests.filter(({ method }) => method === 'POST') ?? [])
    expect(gunzipSync(bytes).length).toBeLessThanOrEqual(5_000_000);
});

test('rejects a log that Datadog would truncate, and sends the others', async () => {
  const lines = [1, 1_000_000, 2].map((size, n) => JSON.stringify({ n, text: 'x'.repeat(size) }));
  const { written, rejected } = await attempt(await outputFor(), createBatch('b', lines));
  expect([written, rejected]).toEqual([
    [0, 2],
    [{ n: 1, reason: 'The record exceeds the maximum size of a log in Datadog.' }],
  ]);
});

test.each([400, 413])('isolates the rejected record after %i', async (status) => {
  const output = await outputFor({}, (request) => (numbersIn(request).includes(3) ? { status } : intake(request)));
  expect(await attempt(output, noted(9))).toMatchObject({ written: [0, 1, 2, 4, 5, 6, 7, 8], rejected: [{ n: 3 }] });
});

test('reports a wrong key before it sends a record', async () => {
  const output = await outputFor({}, () => ({ status: 403, body: { errors: ['Forbidden'] } }));
  await expect(output.open?.(new AbortController().signal)).rejects.toMatchObject({
    code: 'invalid_credentials',
    kind: 'permanent',
    message: expect.stringContaining('site'),
  });
  expect(requests()).toEqual([]);
});

test.each(['https://evil.example', 'https://datadoghq.com.evil.example', '', 'http://['])(
  'does not send the key to "%s"',
  async (domain_url) => {
    await expect(outputFor({ domain_url })).rejects.toMatchObject({ code: 'invalid_config' });
  },
);

test('sends to the intake of the site', async () => {
  const seen: string[] = [];
  const create = createDatadogOutput({
    intakeOf: (site) => (seen.push(site), 'http://127.0.0.1:1'),
    apiOf: () => 'http://127.0.0.1:1',
  });
  const context = outputContext('output:datadog', createEgress({ allow: [] }));
  for (const site of ['us3.datadoghq.com', 'datadoghq.com', 'ddog-gov.com']) {
    const output = create(configFor({ domain_url: `https://http-intake.logs.${site}` }), context);
    await output.write(noted(1), new AbortController().signal).catch(() => undefined);
  }
  expect(seen).toEqual(['us3.datadoghq.com', 'datadoghq.com', 'ddog-gov.com']);
});
