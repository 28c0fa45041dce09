import type { CreateOutput } from '@connector-frame/engine/connector-api';
import { awsEndpoint } from '../_shared/aws/endpoint.js';
import type { AwsFields } from '../_shared/aws/failures.js';
import { createObjectOutput } from '../_shared/objects/object-output.js';
import { BucketClient } from './client.js';
import { storage } from './config.js';
import { createS3Store } from './store.js';

/** Creates outputs that write objects to a bucket. */
export const createS3Output =
  (subject = storage, endpoint = awsEndpoint, fields?: AwsFields): CreateOutput =>
  ({ settings, secrets }, { egress, clock, aws: roles }) => {
    const client = new BucketClient({ config: { settings, secrets }, egress, clock, subject, endpoint, roles, fields });
    return createObjectOutput(createS3Store(client, clock), settings, clock);
  };
