import type { Clock, Egress, TesterConfig } from '@connector-frame/engine/connector-api';
import { type ApiClient, createApiClient } from '../_shared/api/api-client.js';
import { toConnectorError, type ApiError } from '../_shared/api/api-error.js';
import { failed, missing } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { serviceAccount } from '../google/service-account.js';

const ORIGIN = 'https://storage.googleapis.com';
const KEY = '/secrets/credentials_json';

/** A bucket, and a client that signs in as its reader or writer. */
export interface GcsBucket {
  client: ApiClient;
  /** URL of the bucket: `…/storage/v1/b/acme`. */
  url: string;
  /** URL for uploads to the bucket. */
  uploadUrl: string;
  /** Converts an unsuccessful response to an error. */
  problem(response: Response): ApiError;
}

export interface GcsOptions {
  config: TesterConfig;
  egress: Egress;
  clock: Clock;
  use: 'read' | 'write';
}

const roles = {
  read: 'The service account needs the role Storage Object Viewer on the bucket.',
  write: 'The service account needs the role Storage Object User on the bucket.',
};

/**
 * Opens a bucket over the JSON API of Cloud Storage.
 * https://cloud.google.com/storage/docs/json_api
 * @throws ConnectorError `invalid_config`, permanent
 */
export function openGcsBucket({ config, egress, clock, use }: GcsOptions): GcsBucket {
  const field = use === 'read' ? 'bucket_name' : 'bucket';
  const name = text(config.settings, field);
  if (name === undefined) throw toConnectorError(missing(`/settings/${field}`, 'Enter a bucket.'));
  const scope = `https://www.googleapis.com/auth/devstorage.${use === 'read' ? 'read_only' : 'read_write'}`;
  const subject = { product: 'Google Cloud Storage', credential: KEY };
  const client = createApiClient(serviceAccount(KEY, [scope]), config, {
    subject,
    egress,
    clock,
    base: new URL(ORIGIN),
  });
  const path = `storage/v1/b/${encodeURIComponent(name)}`;
  return {
    client,
    url: `${ORIGIN}/${path}`,
    uploadUrl: `${ORIGIN}/upload/${path}/o`,
    problem(response) {
      const { status } = response;
      if (status === 403)
        return client.problem(
          response,
          failed('forbidden', 'The service account lacks permissions on the bucket.', {
            hint: roles[use],
            at: [KEY, `/settings/${field}`],
          }),
        );
      if (status === 404)
        return client.problem(
          response,
          failed('not_found', 'There is no bucket by this name.', { at: `/settings/${field}` }),
        );
      return client.problem(response);
    },
  };
}
