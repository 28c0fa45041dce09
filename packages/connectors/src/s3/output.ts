import type { CreateOutput } from '@connector-frame/engine/connector-api';
import { createObjectOutput } from '../_shared/objects/object-output.js';
import { BucketClient } from './client.js';
import { awsEndpoint, storage } from './config.js';
import { createS3Store } from './store.js';

/** Creates outputs that write objects to a bucket. */
export const createS3Output =
  (subject = storage, aws = awsEndpoint): CreateOutput =>
  ({ settings, secrets }, { egress, clock }) => {
    const client = new BucketClient({ config: { settings, secrets }, egress, clock, subject, aws });
    return createObjectOutput(createS3Store(client, clock), settings, clock);
  };
