import { ConnectorError, systemClock, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { failureOf } from '../_shared/broker/test-failure.js';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { createObjectOutput } from '../_shared/objects/object-output.js';
import { text } from '../_shared/read.js';
import { HdfsStore, subject } from './store.js';

const fields = {
  ...subject,
  address: '/settings/endpoint',
  user: '/settings/root',
  password: '/settings/root',
  name: '/settings/root',
};

/** Writes records as files of HDFS. */
export const hdfsOutput: ConnectorCode = {
  createOutput({ settings }, { egress, clock }) {
    const store = new HdfsStore(settings, egress, clock);
    return createObjectOutput(store, { compression: text(settings, 'compression') ?? 'gzip' }, clock);
  },
  testConnection: createTester(fields, async ({ settings }, { egress, signal }) => {
    try {
      await new HdfsStore(settings, egress, systemClock).check(signal);
      return passed('The NameNode responded. The first delivery shows whether the folder may be written to');
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return failureOf(error, fields);
    }
  }),
};
