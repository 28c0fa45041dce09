import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { startGrpcServer, type GrpcReply, type GrpcServer } from '../../../../test/support/grpc-server.js';
import { exportedProtobuf } from '../../../../test/support/otlp-export.js';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { startVendor, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { gunzipSync } from 'node:zlib';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, type Output } from '@connector-frame/engine/connector-api';
import { monadOtelInput } from '../monad-otel/index.js';
import { encodeLog } from './encode-logs.js';
import { otelOutput } from './index.js';
import { createOtelOutput } from './output.js';
import { severityNumberOf } from './severity.js';

const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
const { receiver } = monadOtelInput;
/** Decodes with the receiver, which is compared with exports of the SDK. */
const decoded = async (message: Buffer): Promise<Record<string, unknown>[]> =>
  (await receiver?.read(message, 'application/x-protobuf'))?.map((line): Record<string, unknown> => JSON.parse(line)) ??
  [];
const unzipped = (bytes: Buffer): Buffer => (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes);

runOutputContract('otel', {
  type: 'output:otel',
  at: (origin) => ({
    create: createOtelOutput,
    config: {
      settings: { endpoint: origin, protocol: 'http', mode: { type: 'wrap_as_logs' } },
      secrets: { headers: { Authorization: 'Bearer canary/otel "0010" +?' } },
    },
  }),
  accept: ({ method, url }) => (method === 'POST' && url === '/v1/logs' ? { body: '' } : { status: 404 }),
  // An attribute `n` of the body: its key, and an integer.
  numbers: ({ bytes }) => {
    const body = unzipped(bytes);
    const key = Buffer.from([10, 1, 'n'.charCodeAt(0), 18]);
    const found: number[] = [];
    for (let at = body.indexOf(key); at >= 0; at = body.indexOf(key, at + 1)) {
      const [, tag = 0, low = 0, high = 0] = body.subarray(at + key.length);
      if (tag === 24) found.push(low < 128 ? low : (low & 127) + high * 128);
    }
    return found;
  },
});

test('encodes a record like the SDK encodes the same body', () => {
  const fields = { timestamp: undefined, severity: undefined };
  const log = Buffer.from(encodeLog('{"message":"a map","n":1}', fields, 0));
  // The value of `body` in the second record of the export, with its length.
  const value = exportedProtobuf.subarray(exportedProtobuf.lastIndexOf(Buffer.from([42, 31])), -1);
  expect(log.includes(value.subarray(0, 33))).toBe(true);
});

// The table of https://opentelemetry.io/docs/specs/otel/logs/data-model-appendix/#appendix-b-severitynumber-example-mappings
test.each([
  ['Trace', 1],
  ['Debug', 5],
  ['Informational', 9],
  ['Notice', 10],
  ['Warning', 13],
  ['Error', 17],
  ['Critical', 18],
  ['Alert', 19],
  ['Emergency', 21],
  ['ERROR2', 18],
  [24, 24],
  ['toString', undefined],
  [0, undefined],
])('the severity %s is %s', (level, number) => expect(severityNumberOf(level)).toBe(number));

let http: Vendor;
let respond: () => Reply = () => ({ body: '' });
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = new AbortController().signal;
beforeAll(async () => {
  http = await startVendor(() => respond());
});
afterAll(() => http.close());

const open = (settings: object, secrets: object = {}, own = egress): Output => {
  const output = otelOutput.createOutput?.(
    { settings: { ...settings }, secrets: { ...secrets } },
    outputContext('output:otel', own),
  );
  if (!output) throw new Error('no output');
  return output;
};
const wrap = { type: 'wrap_as_logs', wrap_as_logs: { timestamp_field: 'at', severity_field: 'log.level' } };

const rejecting = (count: number): Reply => ({
  headers: { 'content-type': 'application/x-protobuf' },
  body: Buffer.from([10, 2, 8, count]).toString(),
});
const byHttp = () => ({ endpoint: `${http.origin}/otlp/`, protocol: 'http', mode: wrap });

describe('by HTTP', () => {
  test('sends each record as a log record with its time and severity', async () => {
    respond = () => ({ body: '' });
    const lines = [
      '{"at":"2026-03-10T12:00:00.000000001Z","log":{"level":"WARN"},"big":9223372036854775807,"list":[1,"x",null],"ratio":0.5}',
      '{"at":1773144000,"text":"ü"}',
      '{"at":"no time"}',
    ];
    expect(await open(byHttp()).write(createBatch('b', lines), signal)).toEqual({});
    const sent = http.requests.at(-1);
    expect([sent?.url, sent?.headers['content-type']]).toEqual(['/otlp/v1/logs', 'application/x-protobuf']);
    const records = await decoded(unzipped(sent?.bytes ?? Buffer.alloc(0)));
    expect(records).toMatchObject([
      {
        timestamp: '2026-03-10T12:00:00.000000001Z',
        severity_number: 13,
        severity_text: 'WARN',
        body: { big: '9223372036854775807', list: [1, 'x', null], ratio: 0.5, log: { level: 'WARN' } },
        scope: { name: 'connector-frame' },
      },
      { timestamp: '2026-03-10T12:00:00.000Z', body: { at: 1_773_144_000, text: 'ü' } },
      { body: { at: 'no time' } },
    ]);
    expect(records[2]?.['timestamp']).toBe(records[2]?.['observed_timestamp']);
  });

  test('isolates the records that a receiver counts as rejected', async () => {
    respond = () => rejecting(1);
    expect(await open(byHttp()).write(noted(2), signal)).toMatchObject({ refused: [{ indexes: [0, 1] }] });
    respond = () => rejecting(2);
    expect((await attempt(open(byHttp()), noted(2))).rejected.map(({ n }) => n)).toEqual([0, 1]);
  });

  test('sends records that are OTLP as they are, to the address of their signal', async () => {
    respond = () => ({ body: {} });
    // Of https://github.com/open-telemetry/opentelemetry-proto/tree/main/examples: 64-bit numbers stay exact.
    const log = '{"logRecords":[{"timeUnixNano":1544712660300000001,"body":{"stringValue":"Example log record"}}]}';
    const lines = [
      `{"resourceLogs":[{"scopeLogs":[${log}]}]}`,
      `{"resourceMetrics":[{"scopeMetrics":[]}]}`,
      `{"resourceLogs":[{"scopeLogs":[]}]}`,
      '{"message":"no OTLP"}',
    ];
    const passing = { ...byHttp(), mode: { type: 'passthrough' } };
    expect(await open(passing).write(createBatch('b', lines), signal)).toEqual({
      rejected: [{ index: 3, reason: 'not_otlp' }],
    });
    expect(http.requests.slice(-2).map(({ url, body }) => [url, body])).toEqual([
      ['/otlp/v1/logs', `{"resourceLogs":[{"scopeLogs":[${log}]},{"scopeLogs":[]}]}`],
      ['/otlp/v1/metrics', '{"resourceMetrics":[{"scopeMetrics":[]}]}'],
    ]);
    expect(() => open({ ...passing, protocol: 'grpc' })).toThrow(/HTTP only/);
  });

  test('tests the connection with an export without records', async () => {
    respond = () => ({ body: '' });
    const config = { settings: byHttp(), secrets: {} };
    expect(await otelOutput.testConnection?.(config, { egress, signal })).toMatchObject({ ok: true });
    expect(http.requests.at(-1)?.bytes).toHaveLength(0);
    respond = () => ({ status: 401 });
    expect(await otelOutput.testConnection?.(config, { egress, signal })).toMatchObject({
      reason: 'invalid_credentials',
    });
  });
});

const at = (port: number, more: object = {}) => ({
  endpoint: `localhost:${port}`,
  protocol: 'grpc',
  mode: wrap,
  ...more,
});

// Against a server of gRPC's own implementation for Node.js.
describe('by gRPC', () => {
  const certificate = createCertificate('localhost');
  const trusting = createEgress({ allow: ['127.0.0.0/8'], lookup: () => Promise.resolve(['127.0.0.1']) });
  let server: GrpcServer;
  let reply: GrpcReply = {};
  beforeAll(async () => {
    server = await startGrpcServer([EXPORT], () => reply);
  });
  afterAll(() => server.close());
  const settings = () => ({ endpoint: `http://127.0.0.1:${server.port}`, protocol: 'grpc', mode: wrap });
  const secrets = { headers: { 'API-Key': 'canary-grpc-0011' } };

  test('exports records and metadata, compressed', async () => {
    reply = {};
    const output = open(settings(), secrets);
    expect(await output.write(noted(500), signal)).toEqual({});
    expect(await output.write(noted(1, 500), signal)).toEqual({});
    await output.close?.();
    const [first, second] = server.calls.slice(-2);
    expect(first?.metadata['api-key']).toBe('canary-grpc-0011');
    const sent = [
      ...(await decoded(first?.message ?? Buffer.alloc(0))),
      ...(await decoded(second?.message ?? Buffer.alloc(0))),
    ];
    expect(sent.map(({ body }) => Object(body).n)).toEqual(noted(501).records.map(({ n }) => n));
  });

  test.each([
    ['UNAUTHENTICATED', 'invalid_credentials', 'permanent'],
    ['PERMISSION_DENIED', 'forbidden', 'permanent'],
    ['UNIMPLEMENTED', 'not_found', 'permanent'],
    ['UNAVAILABLE', 'upstream_error', 'retry'],
    ['RESOURCE_EXHAUSTED', 'rate_limited', 'throttled'],
  ] as const)('the status %s means %s', async (status, code, kind) => {
    reply = { status, retryAfterMs: 7_000 };
    const output = open(settings(), secrets);
    const { failure, error } = await attempt(output, noted(1));
    await output.close?.();
    expect(failure).toMatchObject({ code, kind, ...(kind !== 'permanent' && { afterMs: 7_000 }) });
    expect(String(error)).not.toContain('canary');
  });

  test('splits what the server refuses, and connects again after a restart', async () => {
    reply = { status: 'INVALID_ARGUMENT' };
    const output = open(settings());
    expect(await output.write(noted(2), signal)).toMatchObject({ refused: [{ indexes: [0, 1] }] });
    reply = {};
    const { port } = server;
    server.close();
    const { failure } = await attempt(output, noted(1));
    expect(failure).toMatchObject({ code: 'connect_failed', kind: 'retry' });
    server = await startGrpcServer([EXPORT], () => reply, undefined, port);
    expect(await output.write(noted(1), signal)).toEqual({});
    await output.close?.();
  });

  test('checks the certificate, and does not send to a server without HTTP/2', async () => {
    const secure = await startGrpcServer([EXPORT], () => ({}), certificate);
    expect((await attempt(open(at(secure.port), {}, trusting), noted(1))).failure).toMatchObject({
      code: 'tls_failed',
    });
    const output = open(at(secure.port, { tls_skip_verify: true }), {}, trusting);
    expect(await output.write(noted(1), signal)).toEqual({});
    await output.close?.();
    const config = { settings: at(secure.port, { tls_skip_verify: true }), secrets: {} };
    expect(await otelOutput.testConnection?.(config, { egress: trusting, signal })).toMatchObject({ ok: true });
    secure.close();
    const web = await startVendor(() => ({ body: 'hello' }), certificate);
    const { failure } = await attempt(
      open(at(Number(new URL(web.origin).port), { tls_skip_verify: true }), {}, trusting),
      noted(1),
    );
    // Its server ends the handshake: the client offers HTTP/2 alone.
    expect(failure).toMatchObject({ code: 'tls_failed' });
    await web.close();
  });
});
