import type { CreateInput } from '@connector-frame/engine/connector-api';
import { awsEndpoint } from '../_shared/aws/endpoint.js';
import { readInputSettings } from '../_shared/objects/input-settings.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { BucketClient } from './client.js';
import { storage } from './config.js';
import { createS3Store } from './store.js';

/** Creates inputs that read the objects of a bucket. */
export const createS3Input =
  (subject = storage, endpoint = awsEndpoint): CreateInput =>
  (config, { egress, clock, aws: roles }) => {
    const client = new BucketClient({ config, egress, clock, subject, endpoint, roles });
    return createObjectInput(createS3Store(client, clock), readInputSettings(config.settings), clock);
  };
