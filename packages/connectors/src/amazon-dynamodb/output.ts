import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  type Batch,
  type Clock,
  ConnectorError,
  type CreateOutput,
  type DataRecord,
  isRecord,
  type JsonValue,
  type Output,
  systemClock,
  type Tester,
  type TesterContext,
} from '@connector-frame/engine/connector-api';
import { ApiError, toConnectorError } from '../_shared/api/api-error.js';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { awsEndpoint, isRegion, type AwsEndpoint } from '../_shared/aws/endpoint.js';
import { AwsJsonApi } from '../_shared/aws/json-api.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { at, text } from '../_shared/read.js';

const ENDPOINT = '/settings/dynamodb_endpoint';
const REGION = '/settings/dynamodb_region';
const PREFIX = '/settings/dynamodb_table_name_prefix';
/** Key of the table: the same for a record that is written again. */
const KEY = 'record_id';
/** Limits of a request. */
const MAX_ITEMS = 25;
const MAX_BYTES = 8 * 1024 * 1024;

interface Table {
  api: AwsJsonApi;
  TableName: string;
}

function open(
  { settings, secrets }: ConnectorConfig,
  { egress }: Pick<TesterContext, 'egress'>,
  clock: Clock,
  endpoint: AwsEndpoint,
): Table {
  const region = text(settings, 'dynamodb_region') ?? 'us-east-1';
  const address = text(settings, 'dynamodb_endpoint') ?? endpoint('dynamodb', region);
  if (!isRegion(region))
    throw toConnectorError(failed('invalid_config', 'This is not the code of a region.', { at: REGION }));
  if (!URL.canParse(address))
    throw toConnectorError(failed('invalid_config', 'This is not a valid address.', { at: ENDPOINT }));
  const api = new AwsJsonApi({
    signature: {
      region: `{{${REGION}}}`,
      service: 'dynamodb',
      access_key_id: '/settings/access_key_id',
      secret_access_key: '/secrets/secret_access_key',
    },
    config: { settings: { ...settings, dynamodb_region: region }, secrets },
    url: new URL('/', address),
    target: 'DynamoDB_20120810',
    version: '1.0',
    subject: { product: 'DynamoDB', address: ENDPOINT, credential: '/secrets/secret_access_key' },
    egress,
    clock,
    roles: undefined,
    endpoint,
    failures: new Map([
      ['ResourceNotFoundException', () => failed('not_found', 'There is no such table.', { at: PREFIX })],
      ['ResourceInUseException', () => failed('upstream_error', 'The table is being created.')],
      ['ValidationException', () => failed('rejected', 'DynamoDB refused the request.')],
    ]),
    rights: 'It needs dynamodb:BatchWriteItem, dynamodb:DescribeTable and dynamodb:CreateTable.',
  });
  return { api, TableName: `${text(settings, 'dynamodb_table_name_prefix') ?? ''}records` };
}

/** Returns the status of the table; `undefined` if there is none. */
async function statusOf({ api, TableName }: Table, signal: AbortSignal): Promise<string | undefined> {
  try {
    return text(await api.call('DescribeTable', { TableName }, { signal }), 'Table', 'TableStatus');
  } catch (error) {
    if (error instanceof ApiError && error.outcome.reason === 'not_found') return undefined;
    throw error;
  }
}

/**
 * Creates outputs that write each record as an item of the table `records`, which is created if there is
 * none.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
 */
export const createDynamoDbOutput =
  (endpoint: AwsEndpoint = awsEndpoint): CreateOutput =>
  (config, { egress, clock }): Output => {
    const table = open(config, { egress }, clock, endpoint);
    const { api, TableName } = table;
    return {
      ordering: 'none',
      async open(signal) {
        const status = await statusOf(table, signal);
        if (status === 'ACTIVE' || status === 'UPDATING') return;
        if (status === undefined)
          await api.call(
            'CreateTable',
            {
              TableName,
              AttributeDefinitions: [{ AttributeName: KEY, AttributeType: 'S' }],
              KeySchema: [{ AttributeName: KEY, KeyType: 'HASH' }],
              BillingMode: 'PAY_PER_REQUEST',
            },
            { signal },
          );
        if ((await statusOf(table, signal)) !== 'ACTIVE')
          throw new ConnectorError('upstream_error', 'DynamoDB is creating the table.', 'retry');
      },
      write: (batch, signal) => writeParts(partsOf(batch), (indexes) => send(table, batch, indexes, signal)),
    };
  };

function partsOf({ lines }: Batch): number[][] {
  const parts: number[][] = [];
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1);
    if (last && last.length < MAX_ITEMS && bytes + line.length <= MAX_BYTES) {
      last.push(index);
      bytes += line.length;
    } else {
      parts.push([index]);
      bytes = line.length;
    }
  }
  return parts;
}

async function send(
  { api, TableName }: Table,
  batch: Batch,
  indexes: readonly number[],
  signal: AbortSignal,
): Promise<PartResult> {
  const puts = indexes.map((index) => ({
    PutRequest: { Item: { ...itemOf(batch.records[index] ?? {}), [KEY]: { S: batch.recordId(index) } } },
  }));
  let answer: unknown;
  try {
    answer = await api.call('BatchWriteItem', { RequestItems: { [TableName]: puts } }, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.outcome.reason === 'rejected')
      return { partRejection: 'refused by DynamoDB' };
    throw error;
  }
  const left = at(answer, 'UnprocessedItems', TableName);
  const ids = new Set((Array.isArray(left) ? left : []).map((each) => text(each, 'PutRequest', 'Item', KEY, 'S')));
  const again = indexes.filter((index) => ids.has(batch.recordId(index)));
  return again.length > 0
    ? { retry: { indexes: again, reason: 'not accepted by DynamoDB for now', throttled: true } }
    : {};
}

type Attribute =
  | { S: string }
  | { N: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { L: Attribute[] }
  | { M: Record<string, Attribute> };

const itemOf = (record: DataRecord): Record<string, Attribute> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, attributeOf(value)]));

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
function attributeOf(value: JsonValue | undefined): Attribute {
  if (value === null || value === undefined) return { NULL: true };
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value === 'number') {
    const size = Math.abs(value);
    // Beyond the range of its numbers.
    return value === 0 || (size >= 1e-130 && size < 1e126) ? { N: String(value) } : { S: String(value) };
  }
  return isRecord(value) ? { M: itemOf(value) } : { L: value.map(attributeOf) };
}

/** Creates a tester that reads the status of the table. It creates none. */
export const createDynamoDbTester = (endpoint: AwsEndpoint = awsEndpoint): Tester =>
  createApiTester({ product: 'DynamoDB', address: ENDPOINT }, async (config, context) => {
    const table = open(config, context, systemClock, endpoint);
    const status = await statusOf(table, context.signal);
    return passed(status === undefined ? 'Signed in. The table will be created' : `Found the table ${table.TableName}`);
  });
