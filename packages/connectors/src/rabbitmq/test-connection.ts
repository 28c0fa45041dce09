import type { Tester } from '@connector-frame/engine/connector-api';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import { connectRabbit, rabbitError, type RabbitSession } from './client.js';
import { readInputSettings, readOutputSettings, readTarget } from './config.js';
import { checkExchange } from './output.js';

export const testRabbitInput: Tester = createRabbitTester('/settings/queue', async ({ channel }, settings) => {
  await channel.queueDeclare(readInputSettings(settings).queue, { passive: true });
  return 'Signed in, and found the queue.';
});

export const testRabbitOutput: Tester = createRabbitTester('/settings/exchange', async (session, settings) => {
  await checkExchange(session, readOutputSettings(settings).exchange);
  return 'Signed in, and found the exchange.';
});

function createRabbitTester(
  name: string,
  check: (session: RabbitSession, settings: Record<string, unknown>) => Promise<string>,
): Tester {
  const address = '/secrets/connection_string';
  return createBrokerTester({
    fields: { product: 'RabbitMQ', address, user: address, password: address, name },
    connect: (config, egress, signal) => connectRabbit(readTarget(config), egress, signal),
    check,
    close: (session) => session.close(),
    convert: rabbitError,
  });
}
