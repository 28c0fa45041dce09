import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  type Batch,
  type CreateOutput,
  type Output,
  type Tester,
  type TesterContext,
  systemClock,
  type Clock,
} from '@connector-frame/engine/connector-api';
import { ApiError, toConnectorError } from '../_shared/api/api-error.js';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { awsEndpoint, isRegion, type AwsEndpoint } from '../_shared/aws/endpoint.js';
import { AwsJsonApi } from '../_shared/aws/json-api.js';
import { queueFailures } from '../_shared/aws/queue.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { at, text } from '../_shared/read.js';

const QUEUE_URL = '/settings/queue_url';
/** Limits of a request. A single message may be larger, up to what the queue allows. */
const MAX_MESSAGES = 10;
const MAX_BYTES = 256 * 1024;
const DEFAULT_GROUP = 'connector-frame';

interface Target {
  api: AwsJsonApi;
  QueueUrl: string;
  /** Of a FIFO queue. */
  group: string | undefined;
}

function open(
  { settings, secrets }: ConnectorConfig,
  { egress, aws: roles }: Pick<TesterContext, 'egress' | 'aws'>,
  clock: Clock,
  endpoint: AwsEndpoint,
): Target {
  const QueueUrl = text(settings, 'queue_url') ?? '';
  const region = text(settings, 'region') ?? '';
  if (!URL.canParse(QueueUrl))
    throw toConnectorError(failed('invalid_config', 'Enter the URL of a queue.', { at: QUEUE_URL }));
  if (!isRegion(region))
    throw toConnectorError(failed('invalid_config', 'This is not the code of a region.', { at: '/settings/region' }));
  const api = new AwsJsonApi({
    signature: { region: '{{/settings/region}}', service: 'sqs', role_arn: '/settings/role_arn' },
    config: { settings, secrets },
    url: new URL('/', QueueUrl),
    target: 'AmazonSQS',
    version: '1.0',
    subject: { product: 'Amazon SQS', address: QUEUE_URL },
    egress,
    clock,
    roles,
    endpoint,
    failures: queueFailures(QUEUE_URL),
    rights: 'It needs sqs:SendMessage on the queue.',
  });
  const isFifo = text(settings, 'queue_type') === 'fifo';
  return { api, QueueUrl, group: isFifo ? (text(settings, 'message_group_id') ?? DEFAULT_GROUP) : undefined };
}

/**
 * Creates outputs that send each record as a message. In a FIFO queue, a record that is sent again within
 * five minutes is dropped.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
 */
export const createSqsOutput =
  (endpoint: AwsEndpoint = awsEndpoint): CreateOutput =>
  (config, context): Output => {
    const target = open(config, context, context.clock, endpoint);
    return {
      ordering: target.group === undefined ? 'none' : 'stream',
      write: (batch, signal) => writeParts(partsOf(batch), (indexes) => send(target, batch, indexes, signal)),
    };
  };

/** Splits a batch by the limits of a request. */
function partsOf({ lines }: Batch): number[][] {
  const parts: number[][] = [];
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    const size = Buffer.byteLength(line);
    const last = parts.at(-1);
    if (last && last.length < MAX_MESSAGES && bytes + size <= MAX_BYTES) {
      last.push(index);
      bytes += size;
    } else {
      parts.push([index]);
      bytes = size;
    }
  }
  return parts;
}

async function send(
  { api, QueueUrl, group }: Target,
  batch: Batch,
  indexes: readonly number[],
  signal: AbortSignal,
): Promise<PartResult> {
  const Entries = indexes.map((index, position) => ({
    Id: String(position),
    MessageBody: batch.lines[index],
    ...(group !== undefined && { MessageGroupId: group, MessageDeduplicationId: batch.recordId(index) }),
  }));
  let answer: unknown;
  try {
    answer = await api.call('SendMessageBatch', { QueueUrl, Entries }, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.outcome.reason === 'rejected') return { partRejection: 'refused by SQS' };
    throw error;
  }
  const failures = at(answer, 'Failed');
  const indexed = (Array.isArray(failures) ? failures : []).flatMap((failure) => {
    const index = indexes[Number(text(failure, 'Id'))];
    return index === undefined ? [] : [{ index, isOurs: at(failure, 'SenderFault') === true }];
  });
  const again = indexed.filter(({ isOurs }) => !isOurs).map(({ index }) => index);
  const rejected = indexed.filter(({ isOurs }) => isOurs).map(({ index }) => ({ index, reason: 'refused by SQS' }));
  return {
    ...(rejected.length > 0 && { rejected }),
    ...(again.length > 0 && { retry: { indexes: again, reason: 'not accepted by SQS for now' } }),
  };
}

/** Creates a tester that reads attributes of the queue, or sends an empty request. It sends no message. */
export const createSqsOutputTester = (endpoint: AwsEndpoint = awsEndpoint): Tester =>
  createApiTester({ product: 'Amazon SQS', address: QUEUE_URL }, async (config, context) => {
    const { api, QueueUrl } = open(config, context, systemClock, endpoint);
    const { signal } = context;
    try {
      // Permissions are checked before the entries, of which there are none.
      await api.call('SendMessageBatch', { QueueUrl, Entries: [] }, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.outcome.reason !== 'rejected') throw error;
    }
    return passed('May send messages to the queue. None was sent');
  });
