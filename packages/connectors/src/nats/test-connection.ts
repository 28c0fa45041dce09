import type { Tester, TesterConfig } from '@connector-frame/engine/connector-api';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import type { BrokerFields } from '../_shared/broker/test-failure.js';
import { connectNats, natsError, type NatsSession } from './client.js';
import { readInputSettings, readSubject, readTarget } from './config.js';

export const testNatsInput: Tester = createNatsTester(async ({ connection, confirm }, settings) => {
  const { subject, queue } = readInputSettings(settings);
  connection.subscribe(subject, { ...(queue !== undefined && { queue }), callback: () => undefined });
  await confirm();
  return 'Signed in and subscribed.';
});

/** Publishes nothing: any message would reach those who listen. */
export const testNatsOutput: Tester = createNatsTester((_session, settings) => {
  readSubject(settings);
  return Promise.resolve('Signed in.');
});

function createNatsTester(check: (session: NatsSession, settings: Record<string, unknown>) => Promise<string>): Tester {
  return createBrokerTester({
    fields: fieldsOf,
    connect: (config, egress, signal) => connectNats(readTarget(config), egress, signal),
    check,
    close: (session) => session.close(),
    convert: natsError,
  });
}

function fieldsOf({ settings }: TesterConfig): BrokerFields {
  const strategy = String(Object(settings['auth'])['strategy']);
  return {
    product: 'NATS',
    address: '/settings/url',
    user: strategy === 'user_password' ? '/settings/auth/user_password/user' : '/settings/auth',
    password: { token: '/secrets/value', nkey: '/secrets/seed' }[strategy] ?? '/secrets/password',
    name: '/settings/subject',
  };
}
