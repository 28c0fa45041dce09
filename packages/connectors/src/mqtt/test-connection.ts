import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { failureOf } from '../_shared/broker/test-failure.js';
import { randomUUID } from 'node:crypto';
import { connectMqtt, type MqttSession } from './client.js';
import { readInputSettings, readOutputSettings, readTarget } from './config.js';
import { subscribeTo } from './input.js';

export const testMqttInput: Tester = createMqttTester(async ({ client }, settings) => {
  await subscribeTo(client, readInputSettings(settings).topic);
  return 'Signed in and subscribed.';
});

/** Publishes nothing: any message would reach those who listen. */
export const testMqttOutput: Tester = createMqttTester((_session, settings) => {
  readOutputSettings(settings);
  return Promise.resolve('Signed in.');
});

function createMqttTester(check: (session: MqttSession, settings: Record<string, unknown>) => Promise<string>): Tester {
  const fields = {
    product: 'the MQTT broker',
    address: '/settings/host',
    user: '/settings/user',
    password: '/secrets/password',
    name: '/settings/topic',
  };
  return createTester(fields, async (config, { egress, signal }) => {
    try {
      // Another client ID: the same one would end the connection of a running pipeline.
      const target = { ...readTarget(config), clientId: `test-${randomUUID().slice(0, 8)}`, keepsSession: false };
      const session = await connectMqtt(target, egress, signal);
      try {
        return passed(await check(session, config.settings));
      } finally {
        await session.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ConnectorError) return failureOf(error, fields);
      throw error;
    }
  });
}
