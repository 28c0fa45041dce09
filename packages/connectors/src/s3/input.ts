import type { CreateInput } from '@connector-frame/engine/connector-api';
import { readInputSettings } from '../_shared/objects/input-settings.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { BucketClient } from './client.js';
import { awsEndpoint, storage } from './config.js';
import { createS3Store } from './store.js';

/** Creates inputs that read the objects of a bucket. */
export const createS3Input =
  (subject = storage, aws = awsEndpoint): CreateInput =>
  (config, { egress, clock }) => {
    const client = new BucketClient({ config, egress, clock, subject, aws });
    return createObjectInput(createS3Store(client, clock), readInputSettings(config.settings), clock);
  };
