import { request as send, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { loadCatalog } from '@connector-frame/catalog';
import { BusError, type AppendOptions } from '@connector-frame/engine';
import { connectors } from '@connector-frame/engine/connectors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { embedded } from '../../../../test/support/databases.js';
import { listenHttp, type WebListener } from '../../../../test/support/listener.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { exportedProtobuf } from '../../../../test/support/otlp-export.js';
import type { Ingested } from '../pipelines/engine.js';
import { createIngest } from './create-ingest.js';
import { createIngestTokens, type IngestTokens } from './tokens.js';

const databases = embedded();
const MIB = 1024 * 1024;
let service: TestService;
let acme: Tenant;
let tokens: IngestTokens;
let port: number;
let listener: WebListener;
let http: string;
let otel: string;
/** What reached the engine, and what it says to it. */
const appended: { connectorId: string; lines: readonly string[]; options?: AppendOptions | undefined }[] = [];
let store: () => Promise<Ingested> = () => Promise.resolve({ stored: true, tooLarge: [] });

async function newInput(type: string, tenant = acme): Promise<string> {
  const body = { name: 'Pushed', type, config: { settings: {}, secrets: {} } };
  const made = await service.call('POST', `/v2/${tenant.team}/inputs`, { key: tenant.key, body });
  expect(made.status).toBe(200);
  return made.body.id;
}

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
  acme = await service.tenant('Northwind');
  tokens = createIngestTokens(service.vault);
  const ingest = createIngest({
    store: service.store,
    tokens,
    catalog: loadCatalog(),
    connectors,
    engine: {
      append(connectorId, lines, options) {
        appended.push({ connectorId, lines, options });
        return store();
      },
    },
    clock: service.clock,
    log: service.logger,
    metrics: service.metrics,
  });
  listener = await listenHttp((request, response) => {
    if (!ingest(request, response)) response.writeHead(418).end();
  });
  ({ port } = listener);
  http = await newInput('monad-http');
  otel = await newInput('monad-otel');
});
afterAll(async () => {
  await listener.close();
  await service.store.close();
});
beforeEach(() => {
  appended.length = 0;
  store = () => Promise.resolve({ stored: true, tooLarge: [] });
});

interface Sent {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
  json: any;
}

function post(
  path: string,
  body: string | Uint8Array,
  { token, headers = {}, method = 'POST' }: { token?: string; headers?: Record<string, string>; method?: string } = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const request = send({ port, method, path, headers: { ...authorization, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const whole = Buffer.concat(chunks);
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        const { statusCode = 0, headers: answered } = response;
        resolve({
          status: statusCode,
          headers: answered,
          body: whole,
          json: isJson ? JSON.parse(whole.toString()) : {},
        });
      });
    });
    request.once('error', reject);
    request.end(body);
  });
}

const give = (body: string | Uint8Array, headers?: Record<string, string>, id = http): Promise<Sent> =>
  post(`/ingest/${id}`, body, { token: tokens.of(id), ...(headers && { headers }) });

describe('records that are sent', () => {
  it('are handed on as they came, and acknowledged', async () => {
    const answer = await give('{"n":1.0}\r\n\r\n{"n":12345678901234567890}');
    expect([answer.status, answer.json]).toEqual([200, { accepted: 2 }]);
    expect(appended).toEqual([{ connectorId: http, lines: ['{"n":1.0}', '{"n":12345678901234567890}'], options: {} }]);
  });

  it('may be packed, and sent in parts', async () => {
    const packed = gzipSync('[{"n":1},{"n":2}]');
    expect((await give(packed, { 'content-encoding': 'gzip' })).json).toEqual({ accepted: 2 });
    const socket = connect(port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write(`POST /ingest/${http}/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.of(http)}\r\n`);
    socket.write('Transfer-Encoding: chunked\r\n\r\n');
    for (const part of ['{"te', 'xt":"', 'ü', '"}\n{}']) {
      socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    socket.write('0\r\n\r\n');
    expect(await answer).toContain('{"accepted":2}');
    expect(appended.at(-1)?.lines).toEqual(['{"text":"ü"}', '{}']);
    socket.destroy();
  });

  it('with an Idempotency-Key have a place by which a repeat is known', async () => {
    await give('{}', { 'idempotency-key': 'shipment-7' });
    expect(appended.at(-1)?.options).toEqual({ position: 'key:shipment-7' });
    expect((await give('{}', { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
  });

  it('that no batch can take are named', async () => {
    store = () => Promise.resolve({ stored: true, tooLarge: [1] });
    expect((await give('{}{}{}')).json).toEqual({ accepted: 2, too_large: [1] });
  });

  it('by OTLP are answered in the encoding that came', async () => {
    const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
    const options = { token: tokens.of(otel), headers };
    const answer = await post(`/ingest/${otel}/v1/logs`, gzipSync(exportedProtobuf), options);
    expect([answer.status, answer.headers['content-type'], answer.body.length]).toEqual([
      200,
      'application/x-protobuf',
      0,
    ]);
    expect(appended.at(-1)?.lines).toHaveLength(2);
    const refused = await post(`/ingest/${otel}/v1/logs`, 'x', {
      token: tokens.of(otel),
      headers: { 'content-type': 'application/json' },
    });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['message']]);
  });
});

describe('what is not stored is not acknowledged', () => {
  const full: Ingested = { stored: false, reason: 'full' };
  it.each([
    ['a full buffer', () => Promise.resolve(full), 429, 'buffer_full', '5'],
    [
      'an engine that ends',
      () => Promise.resolve<Ingested>({ stored: false, reason: 'closed' }),
      503,
      'unavailable',
      '2',
    ],
    ['a stream that is gone', () => Promise.reject(new BusError('unknown_stream', 'x')), 503, 'unavailable', '2'],
    ['a disk that fails', () => Promise.reject(new BusError('storage', 'x')), 503, 'unavailable', '10'],
    [
      'no pipeline',
      () => Promise.resolve<Ingested>({ stored: false, reason: 'no_pipeline' }),
      409,
      'no_pipeline',
      undefined,
    ],
    ['our mistake', () => Promise.reject(new TypeError('oops hunter2')), 500, 'internal_error', undefined],
  ])('%s', async (_name, say, status, type, retryAfter) => {
    store = say;
    const answer = await give('{"password":"hunter2"}');
    expect([answer.status, answer.json.error_type, answer.headers['retry-after']]).toEqual([status, type, retryAfter]);
    expect(answer.body.toString()).not.toContain('hunter2');
    expect(service.log.join('')).not.toContain('hunter2');
  });

  it('bad JSON names its line, and nothing of the request is taken in', async () => {
    const answer = await give('{"a":1}\n{"a":2}\nnonsense\n');
    expect([answer.status, answer.json.error_type]).toEqual([400, 'invalid_request']);
    expect(answer.json.error).toContain('Line 3');
    expect(answer.json.additional_details).toEqual({ line: 3, record: 3 });
    expect(appended).toEqual([]);
  });

  it('OTLP hears when to come again', async () => {
    store = () => Promise.resolve(full);
    const headers = { 'content-type': 'application/x-protobuf' };
    const answer = await post(`/ingest/${otel}/v1/logs`, exportedProtobuf, { token: tokens.of(otel), headers });
    expect([answer.status, answer.headers['retry-after'], answer.headers['content-type']]).toEqual([
      429,
      '5',
      'application/x-protobuf',
    ]);
  });
});

describe('who may send', () => {
  it('only the token of the connector itself; a wrong one and an unknown id are answered alike', async () => {
    const other = await newInput('monad-http', await service.tenant('Globex'));
    const session = await service.session(acme);
    const refused = [
      await post(`/ingest/${http}`, '{}'),
      await post(`/ingest/${http}`, '{}', { token: tokens.of(other) }),
      await post(`/ingest/${http}`, '{}', { token: `${tokens.of(http)}x` }),
      await post(`/ingest/${http}`, '{}', { token: acme.key }),
      await post(`/ingest/${http}`, '{}', { token: session }),
      await post(`/ingest/${http}`, '{}', { headers: { 'x-api-key': acme.key } }),
      await post('/ingest/00000000-0000-4000-8000-000000000000', '{}', { token: tokens.of(http) }),
      // Somebody who could make tokens: there is no such connector.
      await post('/ingest/nothing', '{}', { token: tokens.of('nothing') }),
      await post('/ingest/', '{}', { token: tokens.of('') }),
      await post(`/ingest/${http}/../${other}`, '{}', { token: tokens.of(http) }),
    ];
    const [first] = refused;
    expect(first?.status).toBe(401);
    expect(first?.headers['www-authenticate']).toBe('Bearer');
    for (const { status, body } of refused) expect([status, body]).toEqual([401, first?.body]);
    expect(appended).toEqual([]);
  });

  it('a connector that is deleted is refused within a second', async () => {
    const gone = await newInput('monad-http');
    expect((await give('{}', {}, gone)).status).toBe(200);
    await service.call('DELETE', `/v1/${acme.team}/inputs/${gone}`, { key: acme.key });
    service.clock.advance(1_000);
    expect((await give('{}', {}, gone)).status).toBe(401);
  });

  it('a connector of a type that nothing is sent to has no address here', async () => {
    const okta = await newInput('monad-syslog');
    expect((await give('{}', {}, okta)).status).toBe(404);
    const wrong = await give('{}', {}, otel);
    expect([wrong.status, wrong.json.error]).toEqual([404, expect.stringContaining(`/ingest/${otel}/v1/logs`)]);
  });

  it('no page of a browser: there is no CORS here, and only POST', async () => {
    const answer = await post(`/ingest/${http}`, '', { method: 'OPTIONS', headers: { origin: 'https://app.example' } });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect((await post(`/ingest/${http}`, '', { method: 'GET', token: tokens.of(http) })).status).toBe(405);
    expect((await post('/ingestion', '{}')).status).toBe(418);
  });
});

describe('bounds', () => {
  it('more than 8 MiB are refused, whether announced or not, packed or not', async () => {
    const large = Buffer.alloc(8 * MIB + 1, ' ');
    expect((await give(large)).status).toBe(413);
    expect((await give(large, { 'transfer-encoding': 'chunked' })).status).toBe(413);
    expect((await give(large, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect((await give(Buffer.alloc(8 * MIB, ' '))).status).toBe(200);
  });

  it('a body that unpacks to more than 32 MiB is refused, and little of it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MIB, ' '));
    const before = process.memoryUsage().rss;
    const answer = await give(bomb, { 'content-encoding': 'gzip' });
    expect([answer.status, answer.json.error]).toEqual([413, expect.stringContaining('32 MiB')]);
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * MIB);
    expect((await give(gzipSync(Buffer.alloc(30 * MIB, ' ')), { 'content-encoding': 'gzip' })).status).toBe(200);
  });

  it('what is not what it says it is, is refused', async () => {
    expect((await give('{}', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await give(gzipSync('{}').subarray(0, -4), { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await give('{}', { 'content-encoding': 'br' })).status).toBe(415);
  });

  it('one connector has no more than its share under way; the others go on', async () => {
    const other = await newInput('monad-http');
    const held: ((ingested: Ingested) => void)[] = [];
    store = () => new Promise((resolve) => held.push(resolve));
    const many = Array.from({ length: 9 }, () => give(Buffer.alloc(8 * MIB - 1, ' ')));
    const first = await Promise.race(many);
    expect([first.status, first.json.error_type, first.headers['retry-after']]).toEqual([429, 'rate_limited', '1']);
    const calm = give('{}', {}, other);
    await expect.poll(() => appended.some(({ connectorId }) => connectorId === other)).toBe(true);
    store = () => Promise.resolve({ stored: true, tooLarge: [] });
    for (const release of held) release({ stored: true, tooLarge: [] });
    expect((await calm).status).toBe(200);
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    // Bodies that arrive together may be refused together.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(4);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect((await give(Buffer.alloc(8 * MIB - 1, ' '))).status).toBe(200);
  });

  it('a sender that goes away in the middle leaves nothing behind', async () => {
    for (let round = 0; round < 12; round += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.write(`POST /ingest/${http} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.of(http)}\r\n`);
      socket.write(`Content-Length: ${8 * MIB}\r\n\r\n`);
      await new Promise((resolve) => socket.write(Buffer.alloc(7 * MIB, ' '), resolve));
      socket.destroy();
    }
    expect(appended).toEqual([]);
    await expect.poll(async () => (await give(Buffer.alloc(8 * MIB, ' '))).status).toBe(200);
  });
});
