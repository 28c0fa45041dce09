import type { AwsObjectsDefinition, ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import type { AwsRoles, Clock, Egress } from '@connector-frame/engine/connector-api';
import { isRegion, type AwsEndpoint } from '../_shared/aws/endpoint.js';
import { AwsJsonApi } from '../_shared/aws/json-api.js';
import { KeySource } from '../_shared/aws/key-source.js';
import { Queue, queueFailures } from '../_shared/aws/queue.js';
import { toConnectorError } from '../_shared/api/api-error.js';
import { failed } from '../_shared/connection-test/outcome.js';
import type { Subject } from '../_shared/connection-test/failures.js';
import { invalidConfig } from '../_shared/output/send.js';
import { pathOf } from '../_shared/objects/object-path.js';
import { BucketClient } from '../s3/client.js';
import { createS3Store } from '../s3/store.js';
import type { AnnouncedStore } from './queue-input.js';
import { fieldsOf, fill, textAt } from './read-definition.js';

/** What opening a bucket or a queue takes. */
export interface OpenContext {
  type: Pick<ConnectorTypeData, 'vendor' | 'name'>;
  definition: AwsObjectsDefinition;
  /** With defaults. */
  config: ConnectorConfig;
  egress: Egress;
  clock: Clock;
  roles: AwsRoles | undefined;
  endpoint: AwsEndpoint;
}

export const subjectOf = ({ type, definition: { access } }: OpenContext): Subject => ({
  product: type.vendor,
  ...(access.secret_access_key !== undefined && { credential: access.secret_access_key }),
});

/** @throws ApiError `invalid_config` */
function regionOf({ definition, config }: OpenContext): string {
  const { region: at } = definition.access;
  const region = textAt(config, at) ?? 'us-east-1';
  if (isRegion(region)) return region;
  throw toConnectorError(failed('invalid_config', 'This is not the code of a region.', { at }));
}

/** @throws ApiError `invalid_config` */
function keysOf(context: OpenContext): KeySource {
  const { definition, config, egress, clock, roles, endpoint } = context;
  const { access } = definition;
  const keys = new KeySource(
    {
      accessKeyId: textAt(config, access.access_key_id),
      secretAccessKey: textAt(config, access.secret_access_key),
      roleArn: textAt(config, access.role_arn),
      region: regionOf(context),
    },
    { egress, now: () => clock.now(), signingNow: () => Date.now(), endpoint, roles, fields: fieldsOf(definition) },
  );
  const problem = keys.problem();
  if (problem) throw toConnectorError(problem);
  return keys;
}

function openClient(context: OpenContext, keys: KeySource, bucket: string, region: string): BucketClient {
  const { definition, config, egress, clock, endpoint } = context;
  const other = definition.bucket?.endpoint;
  const settings = {
    bucket,
    region,
    ...(other !== undefined && { endpoint: fill(other, config), use_path_style: true }),
  };
  return new BucketClient({
    config: { settings, secrets: {} },
    egress,
    clock,
    subject: subjectOf(context),
    endpoint,
    keys,
  });
}

/** Returns a client for the bucket that the settings name. @throws ConnectorError `invalid_config` */
export function openBucket(context: OpenContext): BucketClient {
  const name = textAt(context.config, context.definition.bucket?.name);
  if (name === undefined) throw invalidConfig('Enter a bucket.');
  return openClient(context, keysOf(context), name, regionOf(context));
}

/** Returns the buckets that messages name. @throws ConnectorError `invalid_config` */
export function openAnnounced(context: OpenContext): (bucket: string, region: string | undefined) => AnnouncedStore {
  const keys = keysOf(context);
  const own = regionOf(context);
  const stores = new Map<string, AnnouncedStore>();
  return (bucket, named) => {
    const region = named !== undefined && isRegion(named) ? named : own;
    const id = `${region} ${bucket}`;
    const known = stores.get(id);
    if (known) return known;
    const client = openClient(context, keys, bucket, region);
    const store: AnnouncedStore = {
      ...createS3Store(client, context.clock),
      async sizeOf(key, signal) {
        const path = pathOf(key);
        if (path === undefined) return undefined;
        const response = await client.send('HEAD', path, [200], { signal });
        if (!('isError' in response)) return Number(response.headers.get('content-length') ?? 0);
        if (response.response.status === 404) return undefined;
        throw client.problem(response, 'It needs s3:GetObject on the objects of the bucket.');
      },
    };
    if (stores.size >= 100) stores.clear();
    stores.set(id, store);
    return store;
  };
}

/** @throws ApiError, PollError `invalid_config` */
export function openQueue(context: OpenContext): Queue {
  const { definition, config, egress, clock, roles, endpoint } = context;
  const { access, queue = {} } = definition;
  const field = queue.url ?? queue.name ?? '';
  const value = textAt(config, field);
  if (value === undefined || (queue.url !== undefined && !URL.canParse(value)))
    throw toConnectorError(failed('invalid_config', 'Enter the queue.', { at: field }));
  const region = regionOf(context);
  const api = new AwsJsonApi({
    signature: {
      ...access,
      region: `{{${access.region}}}`,
      service: 'sqs',
    },
    config,
    url: new URL('/', queue.url === undefined ? endpoint('sqs', region) : value),
    target: 'AmazonSQS',
    version: '1.0',
    subject: subjectOf(context),
    egress,
    clock,
    roles,
    endpoint,
    failures: queueFailures(field),
    rights: 'It needs sqs:ReceiveMessage, sqs:DeleteMessage and sqs:ChangeMessageVisibility on the queue.',
  });
  return new Queue(api, queue.url === undefined ? { name: value } : { url: value });
}
