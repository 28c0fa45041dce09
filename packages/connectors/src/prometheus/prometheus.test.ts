import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPrometheus, type Prometheus } from '../../../../test/support/brokers/prometheus.js';
import { outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, systemClock, type WriteResult } from '@connector-frame/engine/connector-api';
import { unsnappy } from '../kafka/compression/snappy.js';
import { createPrometheusOutput } from './output.js';
import { prometheusOutput } from './index.js';

const settings = {
  auth: { type: 'basic' },
  metric_name: { type: 'static', static: { value: 'security_events' } },
  value_field: 'count',
  label_fields: ['host', 'user.name'],
};

runOutputContract('prometheus', {
  type: 'output:prometheus',
  at: (origin) => ({
    create: createPrometheusOutput,
    config: {
      settings: { ...settings, endpoint: `${origin}/api/v1/write`, value_field: 'n', timestamp_field: 'n' },
      secrets: { username: '4711', password: 'canary/password "0009" ü+' },
    },
  }),
  accept: () => ({ status: 204 }),
  // A sample ends with its value as a double and its time in milliseconds, of which the record has seconds.
  numbers: ({ bytes }) => {
    const body = unsnappy(bytes, 10_000_000);
    return [...body.keys()].flatMap((at) => (body[at] === 9 && body[at + 9] === 16 ? [body.readDoubleLE(at + 1)] : []));
  },
});

describe('a real Prometheus', () => {
  let server: Prometheus;
  beforeAll(async () => {
    server = await startPrometheus();
  }, 60_000);
  afterAll(() => server.close());
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const signal = new AbortController().signal;

  const tested = async (path: string): Promise<unknown> => {
    const config = { settings: { ...settings, endpoint: `${server.origin}${path}` }, secrets: {} };
    return prometheusOutput.testConnection?.(config, { egress, signal });
  };

  const write = async (changes: object, records: readonly object[]): Promise<WriteResult | undefined> => {
    const config = { settings: { ...settings, endpoint: `${server.origin}/api/v1/write`, ...changes }, secrets: {} };
    const output = prometheusOutput.createOutput?.(config, {
      ...outputContext('output:prometheus', egress),
      clock: systemClock,
    });
    return output?.write(
      createBatch(
        'b',
        records.map((record) => JSON.stringify(record)),
      ),
      signal,
    );
  };

  test('stores samples with their labels, sorted by time, and says which records are none', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const at = (seconds: number): string => new Date((now + seconds) * 1_000).toISOString();
    const records = [
      { count: 2, host: 'ü"b', user: { name: 'ada' }, time: at(-1) },
      { count: 1.5, host: 'ü"b', user: { name: 'ada' }, time: at(-5) },
      { count: '7', host: 'b', time: now - 3 },
      { host: 'none' },
      { count: 1, time: 'yesterday' },
    ];
    const result = await write({ timestamp_field: 'time' }, records);
    expect(result).toEqual({
      rejected: [
        { index: 3, reason: 'no_number' },
        { index: 4, reason: 'invalid_time' },
      ],
    });
    const found = await server.samples('security_events');
    expect(found.toSorted((a, b) => b.values.length - a.values.length)).toEqual([
      {
        metric: { __name__: 'security_events', host: 'ü"b', user_name: 'ada' },
        values: [
          [now - 5, '1.5'],
          [now - 1, '2'],
        ],
      },
      { metric: { __name__: 'security_events', host: 'b' }, values: [[now - 3, '7']] },
    ]);
  });

  test('stores every record without a time, and many of them in one request', async () => {
    const name = { type: 'field', field: { field_name: 'metric' } };
    const records = Array.from({ length: 3_000 }, (_, n) => ({ metric: 'many', count: n, host: `h${n % 3}` }));
    expect(await write({ metric_name: name }, [...records, { metric: '1bad', count: 1 }])).toEqual({
      rejected: [{ index: 3_000, reason: 'invalid_metric_name' }],
    });
    // Samples may be up to a second ahead.
    await expect
      .poll(async () => (await server.samples('many')).flatMap(({ values }) => values).length, { timeout: 20_000 })
      .toBe(3_000);
  });

  test('refuses a request with a sample out of order, and the connection test writes nothing', async () => {
    const hour = 3_600_000;
    await write({ timestamp_field: 'at' }, [{ count: 1, host: 'order', at: Date.now() }]);
    expect(await write({ timestamp_field: 'at' }, [{ count: 1, host: 'order', at: Date.now() - 20 * hour }])).toEqual({
      refused: [{ indexes: [0], reason: 'The Prometheus endpoint does not accept this sample (HTTP 400).' }],
    });
    expect(await tested('/api/v1/write')).toEqual({
      ok: true,
      summary: 'The endpoint accepted a write without samples',
    });
    expect(await tested('/api/v1/wrong')).toMatchObject({ ok: false, reason: 'not_found' });
  });
});
