import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startInflux, type Influx } from '../../../../test/support/brokers/influxdb.js';
import { outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, type WriteResult } from '@connector-frame/engine/connector-api';
import { toLine } from './line-protocol.js';
import { createInfluxOutput } from './output.js';
import { influxOutput } from './index.js';

const TOKEN = 'canary-token-0123456789==';

// The requests and responses of https://docs.influxdata.com/influxdb/v2/api/#operation/PostWrite
runOutputContract('influxdb', {
  type: 'output:influxdb',
  at: (origin) => ({
    create: createInfluxOutput,
    config: {
      settings: { endpoint: origin, version: '2', org: 'acme', bucket: 'security', measurement: 'events' },
      secrets: { token: TOKEN },
    },
  }),
  accept: ({ headers, url }) =>
    headers.authorization === `Token ${TOKEN}` && url === '/api/v2/write?org=acme&bucket=security&precision=ns'
      ? { status: 204 }
      : { status: 401 },
  numbers: ({ body }) => [...body.matchAll(/[ ,]n=(\d+)/g)].map(([, n]) => Number(n)),
});

describe('a real InfluxDB', () => {
  let server: Influx;
  beforeAll(async () => {
    server = await startInflux();
  }, 60_000);
  afterAll(() => server.close());
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const signal = new AbortController().signal;
  const configFor = (changes: object = {}, secret = server.password) => ({
    settings: {
      endpoint: server.origin,
      version: '1',
      database: 'security',
      username: server.user,
      measurement: 'sign ins,=',
      tags: ['host', 'a b'],
      ...changes,
    },
    secrets: { password: secret },
  });
  const write = async (records: readonly object[], changes: object = {}): Promise<WriteResult | undefined> => {
    const output = influxOutput.createOutput?.(configFor(changes), outputContext('output:influxdb', egress));
    return output?.write(
      createBatch(
        'b',
        records.map((record) => JSON.stringify(record)),
      ),
      signal,
    );
  };

  test('reads the points with all special characters', async () => {
    const text = 'a "quoted" \\ text,\nwith=everything ü\\';
    const records = [
      { host: 'h,1 =x', 'a b': 'c\\', count: 3, ok: true, text, nested: { 'k,=': { deep: 1.5 } }, list: [1, 'x'] },
      { host: 'h2', empty: null },
      { timestamp: '2026-03-10T12:00:00.123456789Z', count: 9_007_199_254_740_991 },
    ];
    expect(await write(records)).toEqual({ rejected: [{ index: 1, reason: 'no_fields' }] });
    const rows = await server.query('SELECT * FROM "sign ins,="');
    const [first] = rows.filter((row) => row['host'] !== null);
    expect(first).toMatchObject({
      host: 'h,1 =x',
      'a b': 'c',
      count: 3,
      ok: true,
      text,
      'nested.k,=.deep': 1.5,
      list: '[1,"x"]',
    });
    const other = await server.query(`SELECT "timestamp" FROM "sign ins,=" WHERE "timestamp" != ''`);
    expect(other).toHaveLength(1);
  });

  test('keeps each record without a time, once even if it is repeated', async () => {
    const records = Array.from({ length: 2_000 }, (_, n) => ({ n, host: 'same' }));
    const context = outputContext('output:influxdb', egress);
    const output = influxOutput.createOutput?.(configFor({ measurement: 'many' }), context);
    const batch = Object.assign(
      createBatch(
        'b',
        records.map((record) => JSON.stringify(record)),
      ),
      { at: 1_760_000_000_000 },
    );
    for (let attempt = 0; attempt < 2; attempt += 1) expect(await output?.write(batch, signal)).toEqual({});
    expect(await server.query('SELECT COUNT("n") FROM "many"')).toMatchObject([{ count: 2_000 }]);
  });

  test('refuses a field of another type, and the connection test explains failures', async () => {
    await write([{ value: 1 }], { measurement: 'typed' });
    expect(await write([{ value: 'text' }], { measurement: 'typed' })).toMatchObject({ refused: [{ indexes: [0] }] });
    const test = (config: ReturnType<typeof configFor>) => influxOutput.testConnection?.(config, { egress, signal });
    expect(await test(configFor())).toMatchObject({ ok: true });
    expect(await test(configFor({}, 'wrong'))).toMatchObject({ ok: false, reason: 'invalid_credentials' });
    expect(await test(configFor({ database: 'none' }))).toMatchObject({ ok: false, reason: 'not_found' });
  });
});

// Examples of https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/
test('writes the documented form', () => {
  const point = {
    measurement: 'myMeasurement',
    tags: [{ name: 'tag1', path: ['tag1'] }],
    message: undefined,
    source: undefined,
  };
  const record = { tag1: 'value1', fieldKey: 'fieldValue', timestamp: '2020-04-06T00:26:40.000000001Z' };
  expect(toLine(record, point, 'x', 0)).toBe(
    'myMeasurement,tag1=value1 fieldKey="fieldValue",timestamp="2020-04-06T00:26:40.000000001Z" 1586132800000000001',
  );
  const renamed = { ...point, message: ['text'], source: ['kind'] };
  expect(toLine({ text: 'hi', kind: 'okta' }, renamed, 'x', 1)).toMatch(
    /^myMeasurement,source_type=okta message="hi" 1\d{6}$/,
  );
});
