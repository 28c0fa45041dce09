import type { ExportResult } from '@opentelemetry/core';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { LoggerProvider, type ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { Reader } from 'protobufjs/minimal.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DatabaseProxy } from '../../../../test/support/database-proxy.js';
import { MIB, type IngestListener, type SentResponse } from '../../../../test/support/ingest-listener.js';
import { startProxiedListener, type ProxiedListener } from '../../../../test/support/proxied-listener.js';
import { exportedJson, exportedProtobuf } from '../../../../test/support/otlp-export.js';
import type { Ingested } from '../pipelines/engine.js';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';

/**
 * Responses to OTLP over HTTP, as https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
 * requires: 429, 502, 503 and 504 are retried, other errors are not, and the body of an error is a
 * `google.rpc.Status` in the encoding of the request.
 */
describe('OTLP', () => {
  let proxied: ProxiedListener;
  let proxy: DatabaseProxy;
  let listener: IngestListener;
  beforeAll(async () => {
    proxied = await startProxiedListener();
    ({ proxy, listener } = proxied);
  });
  afterAll(() => proxied.close());
  beforeEach(() => proxied.reset());

  const refuse = (reason: 'full' | 'closed' | 'no_pipeline' | 'unknown') => {
    const result: Ingested = { stored: false, reason };
    listener.engine.store = () => Promise.resolve(result);
  };
  const bodies = () => listener.engine.appended.flatMap(({ lines }) => lines.map((line) => JSON.parse(line).body));

  describe.each([
    ['protobuf', PROTOBUF, exportedProtobuf],
    ['JSON', JSON_TYPE, exportedJson],
  ])('in %s', (_name, type, body) => {
    const post = (options: {
      id?: string;
      body?: string | Buffer;
      token?: string;
      headers?: Record<string, string>;
    }) => {
      const { id = listener.otel, token = listener.tokens.of(id), headers = {} } = options;
      const sent = { token, headers: { 'content-type': type, ...headers } };
      return listener.post(`/ingest/${id}/v1/logs`, options.body ?? body, sent);
    };
    /** Returns the message of a `google.rpc.Status`. */
    const messageIn = (response: SentResponse): unknown => {
      expect(response.headers['content-type']).toBe(type);
      if (type === JSON_TYPE) return response.json['message'];
      const reader = Reader.create(response.body);
      expect(reader.uint32()).toBe((2 << 3) | 2);
      return reader.string();
    };

    it.each([
      ['a full buffer', () => refuse('full'), 429],
      ['a service that shuts down', () => refuse('closed'), 503],
      ['a pipeline that cannot be looked up', () => refuse('unknown'), 503],
    ])('%s is retryable', async (_case, prepare, status) => {
      prepare();
      const response = await post({});
      expect([response.status, Number(response.headers['retry-after']) > 0]).toEqual([status, true]);
      expect(messageIn(response)).toMatch(/Retry the whole request later/);
    });

    it('an unknown connector is retryable while the database is away', async () => {
      const id = await listener.newInput('monad-otel');
      await proxy.refuse();
      const response = await post({ id });
      expect([response.status, response.headers['retry-after']]).toEqual([503, '5']);
      expect(messageIn(response)).toMatch(/database does not respond/);
    });

    it.each([
      ['a wrong token', () => post({ token: 'cfi_wrong' }), 401],
      ['a body that is malformed', () => post({ body: body.slice(0, -1) }), 400],
      ['a body that is too large', () => post({ body: Buffer.alloc(9 * MIB) }), 413],
      ['an unknown encoding', () => post({ headers: { 'content-encoding': 'br' } }), 415],
      ['a connector of another type', () => post({ id: listener.http }), 404],
      [
        'an input without a pipeline',
        () => {
          refuse('no_pipeline');
          return post({});
        },
        409,
      ],
    ])('%s is not retryable', async (_case, send, status) => {
      const response = await send();
      expect([response.status, response.headers['retry-after']]).toEqual([status, undefined]);
      expect(messageIn(response)).toEqual(expect.stringMatching(/\w/));
    });

    it('records that are too large are a partial success', async () => {
      listener.engine.store = () => Promise.resolve({ stored: true, tooLarge: [1] });
      const response = await post({});
      expect([response.status, response.headers['content-type']]).toEqual([200, type]);
      if (type === JSON_TYPE) {
        expect(response.json['partialSuccess']).toMatchObject({ rejectedLogRecords: '1' });
        return;
      }
      const reader = Reader.create(response.body);
      expect([reader.uint32(), reader.uint32() > 0, reader.uint32(), Number(reader.int64())]).toEqual([10, true, 8, 1]);
    });
  });

  it('another media type gets 415, as JSON', async () => {
    const sent = { token: listener.tokens.of(listener.otel), headers: { 'content-type': 'text/plain' } };
    const response = await listener.post(`/ingest/${listener.otel}/v1/logs`, 'x', sent);
    expect([response.status, response.headers['content-type'], typeof response.json['message']]).toEqual([
      415,
      JSON_TYPE,
      'string',
    ]);
  });

  /** Real exporters of the OpenTelemetry SDK for JavaScript. */
  describe.each([
    ['@opentelemetry/exporter-logs-otlp-proto', ProtobufExporter],
    ['@opentelemetry/exporter-logs-otlp-http', JsonExporter],
  ])('with %s', (_name, Exporter) => {
    async function sendOne(id: string, token = listener.tokens.of(id)): Promise<ExportResult> {
      const exporter = new Exporter({
        url: `http://127.0.0.1:${listener.port}/ingest/${id}/v1/logs`,
        headers: { authorization: `Bearer ${token}` },
        timeoutMillis: 240_000,
      });
      const made: ReadableLogRecord[] = [];
      const provider = new LoggerProvider({
        processors: [
          {
            onEmit: (record) => void made.push(record),
            forceFlush: () => Promise.resolve(),
            shutdown: () => Promise.resolve(),
          },
        ],
      });
      provider.getLogger('shop').emit({ body: 'kept', severityNumber: 9 });
      const result = await new Promise<ExportResult>((resolve) => exporter.export(made, resolve));
      await exporter.shutdown();
      await provider.shutdown();
      return result;
    }

    it('records are retried and delivered once the database is back', async () => {
      const id = await listener.newInput('monad-otel');
      await proxy.refuse();
      const sending = sendOne(id);
      await expect
        .poll(async () => (await listener.service.metrics.text()).includes('route="/ingest",status="503"'))
        .toBe(true);
      await proxy.restore();
      listener.service.clock.advance(2_000);
      expect((await sending).code).toBe(0);
      expect(bodies()).toEqual(['kept']);
    });

    it('records are retried and delivered once the buffer has room', async () => {
      let isFull = true;
      listener.engine.store = () => {
        const result: Ingested = isFull ? { stored: false, reason: 'full' } : { stored: true, tooLarge: [] };
        isFull = false;
        return Promise.resolve(result);
      };
      expect((await sendOne(listener.otel)).code).toBe(0);
      expect(bodies()).toEqual(['kept', 'kept']);
    });

    it('an error that is not retryable is reported at once', async () => {
      listener.engine.store = () => Promise.resolve<Ingested>({ stored: false, reason: 'no_pipeline' });
      expect((await sendOne(listener.otel)).code).toBe(1);
      expect(listener.engine.appended).toHaveLength(1);
    });
  });
});
