import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBatch, systemClock, type Output } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import type { AwsWorld } from '../../../../test/support/aws-world.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { long } from '../../../../test/support/long.js';
import { startMoto } from '../../../../test/support/moto.js';
import { startVendor, type Received, type Reply } from '../../../../test/support/vendor.js';
import { createDynamoDbOutput, createDynamoDbTester } from './output.js';

const never = new AbortController().signal;
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const type = typeOf('output:amazon-dynamodb');
const keys = { accessKeyId: 'AKIACANARYDYNAMODBID', secretAccessKey: 'canary/secret+of+dynamodb0123456789abcde' };
const configOf = (endpoint: string) => ({
  settings: { access_key_id: keys.accessKeyId, dynamodb_table_name_prefix: 'acme_', dynamodb_endpoint: endpoint },
  secrets: { secret_access_key: keys.secretAccessKey },
});
const open = (endpoint: string): Output =>
  createDynamoDbOutput()(configOf(endpoint), { type, egress, clock: systemClock });
const error = (name: string, status = 400): Reply => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'quotes what was sent' },
});
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
const serve = async (respond: (action: string, body: any) => Reply) =>
  startVendor(({ headers, body }: Received) =>
    respond(String(headers['x-amz-target']).replace('DynamoDB_20120810.', ''), JSON.parse(body)),
  );
const RECORD = { text: 'a', n: 1.5, yes: true, none: null, list: [1, 'b'], nested: { deep: {} }, huge: 1e200 };

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html */
test('writes items with typed attributes, and the same key for a record that is sent again', async () => {
  const vendor = await serve(() => ({ body: { UnprocessedItems: {} } }));
  const batch = createBatch('batch', [JSON.stringify(RECORD)]);
  for (let times = 0; times < 2; times += 1) expect(await open(vendor.origin).write(batch, never)).toEqual({});
  const [first, second] = vendor.requests.map(({ body }) => JSON.parse(body));
  expect(first).toEqual(second);
  expect(first.RequestItems.acme_records).toEqual([
    {
      PutRequest: {
        Item: {
          record_id: { S: batch.recordId(0) },
          text: { S: 'a' },
          n: { N: '1.5' },
          yes: { BOOL: true },
          none: { NULL: true },
          list: { L: [{ N: '1' }, { S: 'b' }] },
          nested: { M: { deep: { M: {} } } },
          huge: { S: '1e+200' },
        },
      },
    },
  ]);
  expect(vendor.requests[0]?.headers['authorization']).toMatch(/\/us-east-1\/dynamodb\/aws4_request/);
  await vendor.close();
});

test('sends 25 items at a time, and again what was not processed', async () => {
  const vendor = await serve((_action, body) => ({
    body: { UnprocessedItems: { acme_records: body.RequestItems.acme_records.slice(-1) } },
  }));
  const lines = Array.from({ length: 30 }, (_, n) => JSON.stringify({ n }));
  expect(await open(vendor.origin).write(createBatch('b', lines), never)).toMatchObject({
    // Those after it were not sent.
    retry: { indexes: [24, 25, 26, 27, 28, 29], throttled: true },
  });
  expect(vendor.requests.map(({ body }) => JSON.parse(body).RequestItems.acme_records.length)).toEqual([25]);
  await vendor.close();
});

test('creates the table if there is none, and waits until it is active', async () => {
  let status: string | undefined;
  const vendor = await serve((action) => {
    if (action === 'CreateTable') status = 'CREATING';
    return status === undefined ? error('ResourceNotFoundException') : { body: { Table: { TableStatus: status } } };
  });
  const output = open(vendor.origin);
  await expect(output.open?.(never)).rejects.toMatchObject({ kind: 'retry' });
  status = 'ACTIVE';
  await output.open?.(never);
  const created = vendor.requests.filter(({ body }) => body.includes('KeySchema'));
  expect(created).toHaveLength(1);
  await vendor.close();
});

test.each([
  ['ValidationException', { refused: [{ indexes: [0] }] }],
  ['ResourceNotFoundException', { code: 'not_found', kind: 'permanent' }],
  ['AccessDeniedException', { code: 'forbidden', kind: 'permanent' }],
  ['UnrecognizedClientException', { code: 'invalid_credentials', kind: 'permanent' }],
  ['ProvisionedThroughputExceededException', { code: 'rate_limited', kind: 'throttled' }],
])('%s', async (name, expected) => {
  const vendor = await serve(() => error(name));
  const written = open(vendor.origin).write(createBatch('b', ['{"n":1}']), never);
  if ('refused' in expected) expect(await written).toMatchObject(expected);
  else await expect(written).rejects.toMatchObject(expected);
  await vendor.close();
});

describe.runIf(long)('moto', () => {
  let world: AwsWorld;
  beforeAll(async () => {
    world = await startMoto();
  }, 600_000);
  afterAll(() => world.close());

  test('holds each record once', async () => {
    const tester = createDynamoDbTester();
    const tested = () => tester(configOf(world.origin), { egress, signal: never });
    expect(await tested()).toMatchObject({ ok: true, summary: 'Signed in. The table will be created' });
    const output = open(world.origin);
    await output.open?.(never);
    const batch = createBatch('b', [
      JSON.stringify(RECORD),
      ...Array.from({ length: 30 }, (_, n) => JSON.stringify({ n })),
    ]);
    for (let times = 0; times < 2; times += 1) expect(await output.write(batch, never)).toEqual({});
    const { Count } = (await world.call?.('DynamoDB_20120810.Scan', { TableName: 'acme_records' })) ?? {};
    expect(Count).toBe(31);
    expect(await tested()).toMatchObject({ ok: true, summary: 'Found the table acme_records' });
  });
});
