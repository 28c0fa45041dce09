/**
 * Inputs that answer like a product's own server: Splunk's HTTP Event Collector with Splunk's client
 * for Node.js, and Datadog's intake with the requests that its API documents.
 */
import { deflateSync, gzipSync } from 'node:zlib';
import { Logger } from 'splunk-logging';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startIngestListener, type IngestListener } from '../../../../test/support/ingest-listener.js';

let listener: IngestListener;
beforeAll(async () => {
  listener = await startIngestListener();
});
afterAll(() => listener.close());
beforeEach(() => listener.reset());

const records = () => listener.engine.appended.flatMap(({ lines }) => lines.map((line): unknown => JSON.parse(line)));

describe('Splunk HEC', () => {
  const token = 'B5A79AAD-D822-46CC-80D1-819F80D7BFB0';
  const authorization = `Splunk ${token}`;
  const create = () => listener.newReceiver('splunk-hec', {}, { token: { value: token } });

  it("accepts what Splunk's own client sends, and tells it about a wrong token", async () => {
    const { path } = await create();
    const send = (given: string): Promise<unknown> =>
      new Promise((resolve) => {
        const logger = new Logger({
          token: given,
          url: `http://127.0.0.1:${listener.port}`,
          path: `${path}/services/collector/event/1.0`,
          maxRetries: 0,
        });
        logger.error = resolve;
        logger.send(
          { message: { temperature: '70F' }, metadata: { source: 'chicken coop', sourcetype: 'httpevent' } },
          (error: unknown, _response: unknown, body: unknown) => resolve(error ?? body),
        );
      });
    expect(await send(token)).toEqual({ text: 'Success', code: 0 });
    expect(records()).toEqual([
      expect.objectContaining({
        source: 'chicken coop',
        sourcetype: 'httpevent',
        event: expect.objectContaining({ message: { temperature: '70F' } }),
      }),
    ]);
    expect(await send('wrong')).toMatchObject({ message: 'Invalid token', code: 4 });
    expect(listener.engine.appended).toHaveLength(1);
  });

  // https://docs.splunk.com/Documentation/Splunk/latest/Data/TroubleshootHTTPEventCollector
  it.each([
    ['no token', {}, '{"event":1}', 401, { text: 'Token is required', code: 2 }],
    [
      'another scheme',
      { authorization: `Bearer ${token}` },
      '{"event":1}',
      401,
      { text: 'Invalid authorization', code: 3 },
    ],
    ['another token', { authorization: 'Splunk x' }, '{"event":1}', 403, { text: 'Invalid token', code: 4 }],
    ['no data', { authorization }, '', 400, { text: 'No data', code: 5 }],
    ['no JSON', { authorization }, '{"event":', 400, { text: 'Invalid data format', code: 6 }],
    ['no event', { authorization }, '{"time":1}', 400, { text: 'Event field is required', code: 12 }],
    ['an empty event', { authorization }, '{"event":""}', 400, { text: 'Event field cannot be blank', code: 13 }],
  ] as [string, Record<string, string>, string, number, object][])('refuses %s as documented', async (...given) => {
    const [, headers, body, status, expected] = given;
    const { path } = await create();
    const refused = await listener.post(`${path}/services/collector`, body, { headers });
    expect([refused.status, refused.json]).toEqual([status, expected]);
    expect(listener.engine.appended).toEqual([]);
  });

  it('takes no token from the address, and keeps what it got as it was', async () => {
    const { path } = await create();
    const inUrl = await listener.post(`${path}/services/collector?token=${token}`, '{"event":1}');
    expect([inUrl.status, inUrl.json]).toEqual([400, { text: 'Query string authorization is not enabled', code: 16 }]);
    const body = '{"time":1447828325.000000001,"event":"a"}{"event":{"n":12345678901234567890},"fields":{"x":"y"}}';
    const basic = `Basic ${Buffer.from(`x:${token}`).toString('base64')}`;
    const sent = await listener.post(`${path}/services/collector/event`, gzipSync(body), {
      headers: { authorization: basic, 'content-encoding': 'gzip' },
    });
    expect(sent.status).toBe(200);
    expect(listener.engine.appended[0]?.lines).toEqual([
      '{"time":1447828325.000000001,"event":"a"}',
      '{"event":{"n":12345678901234567890},"fields":{"x":"y"}}',
    ]);
  });

  it('takes raw lines with the metadata of the request', async () => {
    const { path } = await create();
    const query = 'channel=00872DC6-AC83-4EDE-8AFE-8413C3825C4C&sourcetype=mydata&host=web';
    const sent = await listener.post(`${path}/services/collector/raw?${query}`, '1 2 3\r\n\n4 5 6\n', {
      headers: { authorization },
    });
    expect([sent.status, sent.json]).toEqual([200, { text: 'Success', code: 0, ackId: expect.any(Number) }]);
    expect(records()).toEqual([
      { host: 'web', sourcetype: 'mydata', event: '1 2 3' },
      { host: 'web', sourcetype: 'mydata', event: '4 5 6' },
    ]);
  });

  it('acknowledges what it has stored', async () => {
    const { path } = await create();
    const headers = { authorization, 'x-splunk-request-channel': 'FE0ECFAD-13D5-401B-847D-77833BD77131' };
    const ids = new Set<number>();
    for (let time = 0; time < 2; time += 1) {
      const sent = await listener.post(`${path}/services/collector`, '{"event":"x"}', { headers });
      ids.add(Number(sent.json['ackId']));
    }
    expect(ids.size).toBe(2);
    const [first, second] = [...ids];
    const asked = await listener.post(`${path}/services/collector/ack`, JSON.stringify({ acks: [first, second] }), {
      headers,
    });
    expect(asked.json).toEqual({ acks: { [String(first)]: true, [String(second)]: true } });
    const without = await listener.post(`${path}/services/collector/ack`, '{"acks":[1]}', {
      headers: { authorization },
    });
    expect([without.status, without.json]).toEqual([400, { text: 'Data channel is missing', code: 10 }]);
    expect(listener.engine.appended).toHaveLength(2);
  });

  it('is healthy without a token, and busy while the buffer is full', async () => {
    const { path } = await create();
    const health = await listener.post(`${path}/services/collector/health`, '', { method: 'GET' });
    expect([health.status, health.json]).toEqual([200, { text: 'HEC is healthy', code: 17 }]);
    for (const reason of ['full', 'no_pipeline'] as const) {
      listener.engine.store = () => Promise.resolve({ stored: false, reason });
      const busy = await listener.post(`${path}/services/collector`, '{"event":"x"}', { headers: { authorization } });
      expect([busy.status, busy.json['code']]).toEqual([503, 9]);
    }
    expect((await listener.post(`${path}/services/other`, '{}', { headers: { authorization } })).status).toBe(404);
  });
});

describe('Datadog Agent', () => {
  // https://docs.datadoghq.com/api/latest/logs/#send-logs
  const log = {
    ddsource: 'nginx',
    ddtags: 'env:staging,version:5.1',
    hostname: 'i-012345678',
    message: '2019-11-19T14:37:58,995 INFO [process.name][20081] Hello World',
    service: 'payment',
  };

  it('sends logs with the token as its API key', async () => {
    const agent = await listener.newReceiver('datadog-agent', { parse_ddtags: true });
    const headers = { 'dd-api-key': agent.token, 'content-type': 'application/json' };
    const body = gzipSync(JSON.stringify([log, { message: 'x' }]));
    const sent = await listener.post(`${agent.path}/api/v2/logs`, body, {
      headers: { ...headers, 'content-encoding': 'gzip' },
    });
    expect([sent.status, sent.json]).toEqual([202, {}]);
    expect(records()).toEqual([{ ...log, ddtags: ['env:staging', 'version:5.1'] }, { message: 'x' }]);
    expect((await listener.post(`${agent.path}/api/v2/logs`, '{}', { headers })).status).toBe(202);
    expect(records()).toHaveLength(2);
    const zstd = await listener.post(`${agent.path}/api/v2/logs`, 'x', {
      headers: { ...headers, 'content-encoding': 'zstd' },
    });
    expect([zstd.status, zstd.json]).toEqual([415, { errors: [expect.stringContaining('gzip')] }]);
  });

  it('sends metrics, one record for each point', async () => {
    const agent = await listener.newReceiver('datadog-agent');
    const headers = { 'dd-api-key': agent.token, 'content-encoding': 'deflate' };
    // https://docs.datadoghq.com/api/latest/metrics/#submit-metrics, version 1
    const series = {
      host: 'test.example.com',
      interval: 20,
      metric: 'system.load.1',
      tags: ['environment:test'],
      type: 'rate',
    };
    const body = JSON.stringify({
      series: [
        {
          ...series,
          points: [
            [1_575_317_847, 0.5],
            [1_575_317_867, 1],
          ],
        },
      ],
    });
    expect((await listener.post(`${agent.path}/api/v1/series`, deflateSync(body), { headers })).status).toBe(202);
    const expected = { ...series, metric: 'load.1', namespace: 'system' };
    expect(records()).toEqual([
      { ...expected, timestamp: 1_575_317_847, value: 0.5 },
      { ...expected, timestamp: 1_575_317_867, value: 1 },
    ]);
  });

  it('is rejected without the token, with the reason', async () => {
    const agent = await listener.newReceiver('datadog-agent', { disable_logs: true });
    const refused = await listener.post(`${agent.path}/api/v2/logs`, '[]', { headers: { 'dd-api-key': 'x' } });
    expect([refused.status, refused.json]).toEqual([403, { errors: [expect.any(String)] }]);
    const headers = { 'dd-api-key': agent.token };
    const valid = await listener.post(`${agent.path}/api/v1/validate`, '', { method: 'GET', headers });
    expect([valid.status, valid.json]).toEqual([200, { valid: true }]);
    expect((await listener.post(`${agent.path}/api/v2/logs`, JSON.stringify([log]), { headers })).status).toBe(202);
    expect((await listener.post(`${agent.path}/api/v0.2/traces`, 'x', { headers })).status).toBe(404);
    const bomb = deflateSync(Buffer.alloc(20 * 1024 * 1024, 0x20));
    const packed = { ...headers, 'content-encoding': 'deflate' };
    expect((await listener.post(`${agent.path}/api/v1/series`, bomb, { headers: packed })).status).toBe(413);
    expect(records()).toEqual([]);
  });
});
