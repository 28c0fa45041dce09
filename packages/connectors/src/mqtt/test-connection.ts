import { randomUUID } from 'node:crypto';
import type { Tester } from '@connector-frame/engine/connector-api';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import { connectMqtt, mqttError, type MqttSession } from './client.js';
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
  return createBrokerTester({
    fields: {
      product: 'the MQTT broker',
      address: '/settings/host',
      user: '/settings/user',
      password: '/secrets/password',
      name: '/settings/topic',
    },
    connect(config, egress, signal) {
      // Another client ID: the same one would end the connection of a running pipeline.
      const target = { ...readTarget(config), clientId: `test-${randomUUID().slice(0, 8)}`, keepsSession: false };
      return connectMqtt(target, egress, signal);
    },
    check,
    close: (session) => session.close(),
    convert: mqttError,
  });
}
