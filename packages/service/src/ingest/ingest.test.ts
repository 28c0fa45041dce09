import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { BusError } from '@connector-frame/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openIngestDoor, type IngestDoor } from '../../../../test/support/ingest-door.js';
import { exportedProtobuf } from '../../../../test/support/otlp-export.js';
import type { Ingested } from '../pipelines/engine.js';

let door: IngestDoor;
beforeAll(async () => {
  door = await openIngestDoor();
});
afterAll(() => door.close());
beforeEach(() => door.reset());

describe('records that are sent', () => {
  it('are handed on as they came, and acknowledged', async () => {
    const answer = await door.give('{"n":1.0}\r\n\r\n{"n":12345678901234567890}');
    expect([answer.status, answer.json]).toEqual([200, { accepted: 2 }]);
    expect(door.engine.appended).toEqual([
      { connectorId: door.http, lines: ['{"n":1.0}', '{"n":12345678901234567890}'], options: {} },
    ]);
  });

  it('may be packed, and sent in parts', async () => {
    const packed = gzipSync('[{"n":1},{"n":2}]');
    expect((await door.give(packed, { 'content-encoding': 'gzip' })).json).toEqual({ accepted: 2 });
    const socket = connect(door.port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write(
      `POST /ingest/${door.http}/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${door.tokens.of(door.http)}\r\n`,
    );
    socket.write('Transfer-Encoding: chunked\r\n\r\n');
    for (const part of ['{"te', 'xt":"', 'ü', '"}\n{}']) {
      socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    socket.write('0\r\n\r\n');
    expect(await answer).toContain('{"accepted":2}');
    expect(door.engine.appended.at(-1)?.lines).toEqual(['{"text":"ü"}', '{}']);
    socket.destroy();
  });

  it('with an Idempotency-Key have a place by which a repeat is known', async () => {
    await door.give('{}', { 'idempotency-key': 'shipment-7' });
    expect(door.engine.appended.at(-1)?.options).toEqual({ position: 'key:shipment-7' });
    expect((await door.give('{}', { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
  });

  it('that no batch can take are named', async () => {
    door.engine.store = () => Promise.resolve({ stored: true, tooLarge: [1] });
    expect((await door.give('{}{}{}')).json).toEqual({ accepted: 2, too_large: [1] });
  });

  it('by OTLP are answered in the encoding that came', async () => {
    const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
    const options = { token: door.tokens.of(door.otel), headers };
    const answer = await door.post(`/ingest/${door.otel}/v1/logs`, gzipSync(exportedProtobuf), options);
    expect([answer.status, answer.headers['content-type'], answer.body.length]).toEqual([
      200,
      'application/x-protobuf',
      0,
    ]);
    expect(door.engine.appended.at(-1)?.lines).toHaveLength(2);
    const refused = await door.post(`/ingest/${door.otel}/v1/logs`, 'x', {
      token: door.tokens.of(door.otel),
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
    door.engine.store = say;
    const answer = await door.give('{"password":"hunter2"}');
    expect([answer.status, answer.json.error_type, answer.headers['retry-after']]).toEqual([status, type, retryAfter]);
    expect(answer.body.toString()).not.toContain('hunter2');
    expect(door.service.log.join('')).not.toContain('hunter2');
  });

  it('bad JSON names its line, and nothing of the request is taken in', async () => {
    const answer = await door.give('{"a":1}\n{"a":2}\nnonsense\n');
    expect([answer.status, answer.json.error_type]).toEqual([400, 'invalid_request']);
    expect(answer.json.error).toContain('Line 3');
    expect(answer.json.additional_details).toEqual({ line: 3, record: 3 });
    expect(door.engine.appended).toEqual([]);
  });

  it('tells an OTLP sender when to retry', async () => {
    door.engine.store = () => Promise.resolve(full);
    const headers = { 'content-type': 'application/x-protobuf' };
    const answer = await door.post(`/ingest/${door.otel}/v1/logs`, exportedProtobuf, {
      token: door.tokens.of(door.otel),
      headers,
    });
    expect([answer.status, answer.headers['retry-after'], answer.headers['content-type']]).toEqual([
      429,
      '5',
      'application/x-protobuf',
    ]);
  });
});

describe('who may send', () => {
  it('only the token of the connector itself; a wrong one and an unknown id are answered alike', async () => {
    const other = await door.newInput('monad-http', await door.service.tenant('Globex'));
    const session = await door.service.session(door.acme);
    const refused = [
      await door.post(`/ingest/${door.http}`, '{}'),
      await door.post(`/ingest/${door.http}`, '{}', { token: door.tokens.of(other) }),
      await door.post(`/ingest/${door.http}`, '{}', { token: `${door.tokens.of(door.http)}x` }),
      await door.post(`/ingest/${door.http}`, '{}', { token: door.acme.key }),
      await door.post(`/ingest/${door.http}`, '{}', { token: session }),
      await door.post(`/ingest/${door.http}`, '{}', { headers: { 'x-api-key': door.acme.key } }),
      await door.post('/ingest/00000000-0000-4000-8000-000000000000', '{}', { token: door.tokens.of(door.http) }),
      // A valid token of a connector that does not exist.
      await door.post('/ingest/nothing', '{}', { token: door.tokens.of('nothing') }),
      await door.post('/ingest/', '{}', { token: door.tokens.of('') }),
      await door.post(`/ingest/${door.http}/../${other}`, '{}', { token: door.tokens.of(door.http) }),
    ];
    const [first] = refused;
    expect(first?.status).toBe(401);
    expect(first?.headers['www-authenticate']).toBe('Bearer');
    for (const { status, body } of refused) expect([status, body]).toEqual([401, first?.body]);
    expect(door.engine.appended).toEqual([]);
  });

  it('a connector that is deleted is refused within a second', async () => {
    const gone = await door.newInput('monad-http');
    expect((await door.give('{}', {}, gone)).status).toBe(200);
    await door.service.call('DELETE', `/v1/${door.acme.team}/inputs/${gone}`, { key: door.acme.key });
    door.service.clock.advance(1_000);
    expect((await door.give('{}', {}, gone)).status).toBe(401);
  });

  it('a connector of a type that nothing is sent to has no address here', async () => {
    const okta = await door.newInput('monad-syslog');
    expect((await door.give('{}', {}, okta)).status).toBe(404);
    const wrong = await door.give('{}', {}, door.otel);
    expect([wrong.status, wrong.json.error]).toEqual([404, expect.stringContaining(`/ingest/${door.otel}/v1/logs`)]);
  });

  it('no page of a browser: there is no CORS here, and only POST', async () => {
    const answer = await door.post(`/ingest/${door.http}`, '', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example' },
    });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(
      (await door.post(`/ingest/${door.http}`, '', { method: 'GET', token: door.tokens.of(door.http) })).status,
    ).toBe(405);
    expect((await door.post('/ingestion', '{}')).status).toBe(418);
  });
});
