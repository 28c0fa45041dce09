import { ConnectorError, systemClock, type ConnectorCode, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { failureOf, type BrokerFields } from '../_shared/broker/test-failure.js';
import type { Format } from '../_shared/formats/index.js';
import { readInputSettings } from '../_shared/objects/input-settings.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { createObjectOutput } from '../_shared/objects/object-output.js';
import { readSftpTarget } from './config.js';
import { SftpStore } from './store.js';

const FORMATS: readonly (readonly [ending: RegExp, format: Format])[] = [
  [/\.csv(?:\.gz)?$/i, 'csv'],
  [/\.(?:tsv|tab|psv)(?:\.gz)?$/i, 'delimited'],
  [/\.json(?:\.gz)?$/i, 'json'],
];

/** Returns the format of a file by its ending. Others have one JSON document per line. */
const formatOf = (key: string): Format => FORMATS.find(([ending]) => ending.test(key))?.[1] ?? 'jsonl';

/** Reads the files that are added to a folder, and writes files to one. */
export const sftpInput: ConnectorCode = {
  createInput: (config, { egress, clock }) => {
    const store = new SftpStore(readSftpTarget(config, 'folder_path'), egress, clock);
    const input = createObjectInput(store, { ...readInputSettings({}), formatOf }, clock);
    return Object.assign(input, { close: () => store.close() });
  },
  testConnection: createSftpTester('/settings/folder_path', '/secrets/credentials', async (store, signal) => {
    for await (const page of store.list({ signal })) void page;
    return 'Signed in and listed the folder';
  }),
};

export const sftpOutput: ConnectorCode = {
  createOutput: (config, { egress, clock }) => {
    const store = new SftpStore(readSftpTarget(config, 'destination_path'), egress, clock);
    const output = createObjectOutput(store, { compression: 'none' }, clock);
    return { ...output, close: () => store.close() };
  },
  testConnection: createSftpTester('/settings/destination_path', '/secrets/password', async (store, signal) => {
    await store.check(signal);
    return 'Signed in, and the folder exists. The first delivery shows whether it may be written to';
  }),
};

function createSftpTester(
  folder: string,
  password: string,
  check: (store: SftpStore, signal: AbortSignal) => Promise<string>,
): Tester {
  const fields: BrokerFields = {
    product: 'the SFTP server',
    address: '/settings/host',
    user: '/settings/username',
    password,
    name: folder,
  };
  return createTester(fields, async (config, { egress, signal }) => {
    try {
      const store = new SftpStore(readSftpTarget(config, folder.replace('/settings/', '')), egress, systemClock);
      try {
        return passed(await check(store, signal));
      } finally {
        await store.close();
      }
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      if (error.code === 'tls_failed') return failed('tls_failed', error.message, { at: '/settings/host_key' });
      return failureOf(error, fields);
    }
  });
}
