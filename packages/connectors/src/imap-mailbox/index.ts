import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import { imapError, openMailbox } from './client.js';
import { readMailboxTarget } from './config.js';
import { createMailboxInput } from './input.js';

export const imapMailboxInput: ConnectorCode = {
  createInput: createMailboxInput,
  testConnection: createBrokerTester({
    fields: {
      product: 'the IMAP server',
      address: '/settings/server',
      user: '/settings/username',
      password: '/secrets/password',
      name: '/settings/inbox_name',
    },
    connect: async (config, egress, signal) => {
      const target = readMailboxTarget(config);
      return { target, client: await openMailbox(target, egress, signal) };
    },
    async check({ target, client }) {
      const { exists } = await client.mailboxOpen(target.folder, { readOnly: true });
      return exists === 1 ? 'Signed in. The folder has 1 message' : `Signed in. The folder has ${exists} messages`;
    },
    close: ({ client }) => client.logout().catch(() => client.close()),
    convert: imapError,
  }),
};
