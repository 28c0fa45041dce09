import {
  systemClock,
  type ConnectorCode,
  type CreateInput,
  type Tester,
  type TesterConfig,
} from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { readInputSettings, type InputSettings } from '../_shared/objects/input-settings.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { createObjectOutput } from '../_shared/objects/object-output.js';
import { text } from '../_shared/read.js';
import { BlobClient, codeOf, type BlobFields } from './blob-client.js';
import { createBlobStore, listPage, READ_ROLE, WRITE_ROLE } from './blob-store.js';
import { platformLogSettings, vnetFlowSettings } from './platform-logs.js';

const storage: BlobFields = { account: '/settings/account_url', container: 'container', auth: 'entra' };
const platformLogs: BlobFields = { account: '/settings/account_name', container: 'container_name', auth: 'shared_key' };
const vnetFlowLogs: BlobFields = {
  account: '/settings/storage_account_url',
  container: { name: 'insights-logs-flowlogflowevent' },
  auth: 'entra',
};

/** Creates inputs that read platform logs: blobs that Azure appends to for an hour. */
const platformLogInput =
  (fields: BlobFields, read: (config: TesterConfig) => InputSettings): CreateInput =>
  (config, { egress, clock }) => {
    const client = new BlobClient({ fields, config, egress, clock });
    return createObjectInput(
      createBlobStore(
        client,
        () => clock.now(),
        () => true,
      ),
      read(config),
      clock,
    );
  };

const createBlobInput: CreateInput = (config, { egress, clock }) => {
  const settings = readInputSettings(config.settings);
  // Other formats have no position to continue from.
  const isLines = settings.format === 'jsonl' && settings.location === undefined && settings.compression !== 'gzip';
  const grows = (key: string, type: string): boolean => isLines && type === 'AppendBlob' && !key.endsWith('.gz');
  const client = new BlobClient({ fields: storage, config, egress, clock });
  return createObjectInput(
    createBlobStore(client, () => clock.now(), grows),
    settings,
    clock,
  );
};

/** Creates a tester that lists one blob under the prefix. */
const inputTester = (fields: BlobFields): Tester =>
  createApiTester({ product: 'Azure Storage', address: fields.account }, async (config, { egress, signal }) => {
    const client = new BlobClient({ fields, config, egress, clock: systemClock });
    const prefix = text(config.settings, 'prefix');
    const { objects } = await listPage(
      client,
      { maxresults: '1', ...(prefix !== undefined && { prefix }) },
      signal,
      READ_ROLE,
    );
    return passed(
      objects.length > 0 ? 'Listed the container: there are blobs' : 'Listed the container: no blob there yet',
    );
  });

/**
 * Writes on a condition that no blob meets: the service checks the permission first, and nothing is
 * written.
 * https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations
 */
const testOutput: Tester = createApiTester(
  { product: 'Azure Storage', address: storage.account },
  async (config, { egress, signal }) => {
    const client = new BlobClient({ fields: storage, config, egress, clock: systemClock });
    const headers = { 'x-ms-blob-type': 'BlockBlob', 'if-match': '"0x0000000000000000"', 'content-type': 'text/plain' };
    const response = await client.send('/connection-test', { method: 'PUT', headers, body: ' ' }, { signal });
    const code = codeOf(response);
    if (response.status !== 412 && code !== 'BlobNotFound') throw client.problem(response, WRITE_ROLE);
    return passed('May write to the container. Nothing was written');
  },
);

export const azureBlobStorageInput: ConnectorCode = {
  testConnection: inputTester(storage),
  createInput: createBlobInput,
};
export const azureBlobStorageOutput: ConnectorCode = {
  testConnection: testOutput,
  createOutput: ({ settings, secrets }, { egress, clock }) => {
    const client = new BlobClient({ fields: storage, config: { settings, secrets }, egress, clock });
    return createObjectOutput(
      createBlobStore(client, () => clock.now()),
      settings,
      clock,
    );
  },
};
/** Key Vault and Network Watcher: the container is a setting. */
export const azurePlatformLogsInput: ConnectorCode = {
  testConnection: inputTester(platformLogs),
  createInput: platformLogInput(platformLogs, platformLogSettings),
};
export const azureVnetFlowLogsInput: ConnectorCode = {
  testConnection: inputTester(vnetFlowLogs),
  createInput: platformLogInput(vnetFlowLogs, vnetFlowSettings),
};
