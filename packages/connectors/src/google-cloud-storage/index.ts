import { systemClock, type ConnectorCode, type Tester } from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { unexpected } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { readInputSettings } from '../_shared/objects/input-settings.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { createObjectOutput } from '../_shared/objects/object-output.js';
import { at, json, texts } from '../_shared/read.js';
import { openGcsBucket } from './gcs-client.js';
import { createGcsStore, urlOf } from './gcs-store.js';

const subject = { product: 'Google Cloud Storage' };
const permissions = { read: ['storage.objects.list', 'storage.objects.get'], write: ['storage.objects.create'] };

/**
 * Creates a tester that asks for the permissions of the account.
 * https://cloud.google.com/storage/docs/json_api/v1/buckets/testIamPermissions
 */
const tester = (use: 'read' | 'write'): Tester =>
  createApiTester(subject, async (config, { egress, signal }) => {
    const bucket = openGcsBucket({ config, egress, clock: systemClock, use });
    const url = urlOf(`${bucket.url}/iam/testPermissions`, {});
    for (const permission of permissions[use]) url.searchParams.append('permissions', permission);
    const response = await bucket.client.send({ url }, { signal });
    if (!response.ok) return bucket.problem(response).outcome;
    const body = await json(response);
    if (at(body, 'kind') !== 'storage#testIamPermissionsResponse') return unexpected(bucket.client.subject);
    const granted = new Set(texts(body, 'permissions'));
    const lacking = permissions[use].filter((each) => !granted.has(each));
    if (lacking.length === 0)
      return passed(
        use === 'read' ? 'The service account may read the bucket' : 'The service account may write to the bucket',
      );
    return failed('forbidden', 'The service account lacks permissions on the bucket.', {
      hint: `It needs ${lacking.join(' and ')}.`,
      at: '/secrets/credentials_json',
    });
  });

export const googleCloudStorageInput: ConnectorCode = {
  testConnection: tester('read'),
  createInput: (config, { egress, clock }) => {
    const bucket = openGcsBucket({ config, egress, clock, use: 'read' });
    const settings = readInputSettings(config.settings);
    // An object with `Content-Encoding: gzip` arrives decompressed.
    const compression = settings.compression === 'gzip' ? 'auto' : settings.compression;
    const store = createGcsStore(bucket, () => clock.now());
    return createObjectInput(store, { ...settings, compression }, clock);
  },
};

export const googleCloudStorageOutput: ConnectorCode = {
  testConnection: tester('write'),
  createOutput: ({ settings, secrets }, { egress, clock }) => {
    const bucket = openGcsBucket({ config: { settings, secrets }, egress, clock, use: 'write' });
    const { format, ...rest } = settings;
    // This type names the format otherwise.
    return createObjectOutput(
      createGcsStore(bucket, () => clock.now()),
      { ...rest, format_config: format },
      clock,
    );
  },
};
