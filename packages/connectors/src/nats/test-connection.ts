import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { failureOf } from '../_shared/broker/test-failure.js';
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
  return createTester({ product: 'NATS', address: '/settings/url' }, async (config, { egress, signal }) => {
    const strategy = String(Object(config.settings['auth'])['strategy']);
    const fields = {
      product: 'NATS',
      address: '/settings/url',
      user: strategy === 'user_password' ? '/settings/auth/user_password/user' : '/settings/auth',
      password: { token: '/secrets/value', nkey: '/secrets/seed' }[strategy] ?? '/secrets/password',
      name: '/settings/subject',
    };
    try {
      const session = await connectNats(readTarget(config), egress, signal);
      try {
        return passed(await check(session, config.settings));
      } finally {
        await session.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ConnectorError) return failureOf(error, fields);
      return failureOf(natsError(error), fields);
    }
  });
}
