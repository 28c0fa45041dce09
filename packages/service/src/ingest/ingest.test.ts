import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { BusError } from '@connector-frame/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startIngestListener, type IngestListener } from '../../../../test/support/ingest-listener.js';
import { exportedProtobuf } from '../../../../test/support/otlp-export.js';
import type { Ingested } from '../pipelines/engine.js';

let listener: IngestListener;
beforeAll(async () => {
  listener = await startIngestListener();
});
afterAll(() => listener.close());
beforeEach(() => listener.reset());

describe('accepted records', () => {
  it('reach the engine unchanged, and are acknowledged', async () => {
    const answer = await listener.send('{"n":1.0}\r\n\r\n{"n":12345678901234567890}');
    expect([answer.status, answer.json]).toEqual([200, { accepted: 2 }]);
    expect(listener.engine.appended).toEqual([
      { connectorId: listener.http, lines: ['{"n":1.0}', '{"n":12345678901234567890}'], options: {} },
    ]);
  });

  it('may be compressed, and sent in chunks', async () => {
    const packed = gzipSync('[{"n":1},{"n":2}]');
    expect((await listener.send(packed, { 'content-encoding': 'gzip' })).json).toEqual({ accepted: 2 });
    const socket = connect(listener.port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write(
      `POST /ingest/${listener.http}/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${listener.tokens.of(listener.http)}\r\n`,
    );
    socket.write('Transfer-Encoding: chunked\r\n\r\n');
    for (const part of ['{"te', 'xt":"', 'ü', '"}\n{}']) {
      socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    socket.write('0\r\n\r\n');
    expect(await answer).toContain('{"accepted":2}');
    expect(listener.engine.appended.at(-1)?.lines).toEqual(['{"text":"ü"}', '{}']);
    socket.destroy();
  });

  it('with an Idempotency-Key have a position by which a repetition is recognized', async () => {
    await listener.send('{}', { 'idempotency-key': 'shipment-7' });
    expect(listener.engine.appended.at(-1)?.options).toEqual({ position: 'key:shipment-7' });
    expect((await listener.send('{}', { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
  });

  it('that are too large for a batch are listed in the response', async () => {
    listener.engine.store = () => Promise.resolve({ stored: true, tooLarge: [1] });
    expect((await listener.send('{}{}{}')).json).toEqual({ accepted: 2, too_large: [1] });
  });

  it('sent by OTLP get a response in the encoding of the request', async () => {
    const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
    const options = { token: listener.tokens.of(listener.otel), headers };
    const answer = await listener.post(`/ingest/${listener.otel}/v1/logs`, gzipSync(exportedProtobuf), options);
    expect([answer.status, answer.headers['content-type'], answer.body.length]).toEqual([
      200,
      'application/x-protobuf',
      0,
    ]);
    expect(listener.engine.appended.at(-1)?.lines).toHaveLength(2);
    const refused = await listener.post(`/ingest/${listener.otel}/v1/logs`, 'x', {
      token: listener.tokens.of(listener.otel),
      headers: { 'content-type': 'application/json' },
    });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['message']]);
  });
});

describe('rejected records', () => {
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
    listener.engine.store = say;
    const answer = await listener.send('{"password":"hunter2"}');
    expect([answer.status, answer.json.error_type, answer.headers['retry-after']]).toEqual([status, type, retryAfter]);
    expect(answer.body.toString()).not.toContain('hunter2');
    expect(listener.service.log.join('')).not.toContain('hunter2');
  });

  it('names the line of invalid JSON, and stores nothing of the request', async () => {
    const answer = await listener.send('{"a":1}\n{"a":2}\nnonsense\n');
    expect([answer.status, answer.json.error_type]).toEqual([400, 'invalid_request']);
    expect(answer.json.error).toContain('Line 3');
    expect(answer.json.additional_details).toEqual({ line: 3, record: 3 });
    expect(listener.engine.appended).toEqual([]);
  });

  it('tells an OTLP sender when to retry', async () => {
    listener.engine.store = () => Promise.resolve(full);
    const headers = { 'content-type': 'application/x-protobuf' };
    const answer = await listener.post(`/ingest/${listener.otel}/v1/logs`, exportedProtobuf, {
      token: listener.tokens.of(listener.otel),
      headers,
    });
    expect([answer.status, answer.headers['retry-after'], answer.headers['content-type']]).toEqual([
      429,
      '5',
      'application/x-protobuf',
    ]);
  });
});

describe('authorization', () => {
  it('accepts only the token of the connector; a wrong token and an unknown ID get the same response', async () => {
    const other = await listener.newInput('monad-http', await listener.service.tenant('Globex'));
    const session = await listener.service.session(listener.acme);
    const refused = [
      await listener.post(`/ingest/${listener.http}`, '{}'),
      await listener.post(`/ingest/${listener.http}`, '{}', { token: listener.tokens.of(other) }),
      await listener.post(`/ingest/${listener.http}`, '{}', { token: `${listener.tokens.of(listener.http)}x` }),
      await listener.post(`/ingest/${listener.http}`, '{}', { token: listener.acme.key }),
      await listener.post(`/ingest/${listener.http}`, '{}', { token: session }),
      await listener.post(`/ingest/${listener.http}`, '{}', { headers: { 'x-api-key': listener.acme.key } }),
      await listener.post('/ingest/00000000-0000-4000-8000-000000000000', '{}', {
        token: listener.tokens.of(listener.http),
      }),
      // A valid token of a connector that does not exist.
      await listener.post('/ingest/nothing', '{}', { token: listener.tokens.of('nothing') }),
      await listener.post('/ingest/', '{}', { token: listener.tokens.of('') }),
      await listener.post(`/ingest/${listener.http}/../${other}`, '{}', { token: listener.tokens.of(listener.http) }),
    ];
    const [first] = refused;
    expect(first?.status).toBe(401);
    expect(first?.headers['www-authenticate']).toBe('Bearer');
    for (const { status, body } of refused) expect([status, body]).toEqual([401, first?.body]);
    expect(listener.engine.appended).toEqual([]);
  });

  it('rejects records for a deleted connector within a second', async () => {
    const gone = await listener.newInput('monad-http');
    expect((await listener.send('{}', {}, gone)).status).toBe(200);
    await listener.service.call('DELETE', `/v1/${listener.acme.team}/inputs/${gone}`, { key: listener.acme.key });
    listener.service.clock.advance(1_000);
    expect((await listener.send('{}', {}, gone)).status).toBe(401);
  });

  it('has no route for a connector of a type that receives no records', async () => {
    const okta = await listener.newInput('monad-syslog');
    expect((await listener.send('{}', {}, okta)).status).toBe(404);
    const wrong = await listener.send('{}', {}, listener.otel);
    expect([wrong.status, wrong.json.error]).toEqual([
      404,
      expect.stringContaining(`/ingest/${listener.otel}/v1/logs`),
    ]);
  });

  it('sends no CORS headers to pages of browsers, and accepts only POST', async () => {
    const answer = await listener.post(`/ingest/${listener.http}`, '', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example' },
    });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(
      (await listener.post(`/ingest/${listener.http}`, '', { method: 'GET', token: listener.tokens.of(listener.http) }))
        .status,
    ).toBe(405);
    expect((await listener.post('/ingestion', '{}')).status).toBe(418);
  });
});
