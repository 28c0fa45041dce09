import type { AwsObjectsDefinition, ConnectorTypeData } from '@connector-frame/catalog/types';
import { getAt, withDefaults } from '@connector-frame/catalog/validate';
import type { ConnectorCode, CreateInput } from '@connector-frame/engine/connector-api';
import { awsEndpoint, type AwsEndpoint } from '../_shared/aws/endpoint.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { readInputSettings } from '../_shared/objects/input-settings.js';
import { createS3Store } from '../s3/store.js';
import { readCrowdStrike, readS3Events } from './notifications.js';
import { openAnnounced, openBucket, openQueue, type OpenContext } from './open.js';
import { QueueInput } from './queue-input.js';
import { fill, filterOf, formatOf, textAt } from './read-definition.js';
import { createAwsObjectsTester } from './test-connection.js';

/** Seconds for which received messages are hidden from other readers. */
const VISIBILITY_S = 300;
const MIN_VISIBILITY_S = 30;

/** Returns the code that a type gets from its `aws_objects` definition. */
export function awsObjectsCode(type: ConnectorTypeData): ConnectorCode {
  const { aws_objects: definition } = type;
  return definition
    ? { testConnection: createAwsObjectsTester(type, definition), createInput: createAwsObjectsInput(definition) }
    : {};
}

/** Creates the inputs that a definition describes. */
export const createAwsObjectsInput =
  (definition: AwsObjectsDefinition, endpoint: AwsEndpoint = awsEndpoint): CreateInput =>
  (given, { type, egress, clock, aws: roles }) => {
    const config = withDefaults(type.config, given);
    const context: OpenContext = { type, definition, config, egress, clock, roles, endpoint };
    return definition.queue ? createQueueInput(context) : createBucketInput(context);
  };

function createBucketInput(context: OpenContext) {
  const { definition, config, clock } = context;
  const { since, layout } = readInputSettings({
    backfill_start_time: config.settings['backfill_start_time'],
    partition_format: config.settings['partition_format'],
  });
  const settings = {
    ...formatOf(definition, config),
    prefix: fill(definition.bucket?.prefix ?? '', config),
    layout,
    matches: filterOf(definition, config),
    since,
  };
  return createObjectInput(createS3Store(openBucket(context), clock), settings, clock);
}

function createQueueInput(context: OpenContext): QueueInput {
  const { definition, config, clock } = context;
  const { messages = 's3', records, schedule, visibility } = definition.queue ?? {};
  const seconds = Number(textAt(config, visibility) ?? VISIBILITY_S);
  return new QueueInput({
    queue: openQueue(context),
    records,
    schedule: textAt(config, schedule),
    visibility: Math.max(seconds, MIN_VISIBILITY_S),
    clock,
    ...(messages !== 'message' && {
      objects: {
        readMessage: messages === 's3' ? readS3Events : readCrowdStrike,
        storeOf: openAnnounced(context),
        format: formatOf(definition, config),
        matches: filterOf(definition, config),
        hasMetadata: definition.metadata !== undefined && getAt(config, definition.metadata) === true,
      },
    }),
  });
}
