import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { failureOf } from '../_shared/broker/test-failure.js';
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
  const fields = { product: 'RabbitMQ', address, user: address, password: address, name };
  return createTester(fields, async (config, { egress, signal }) => {
    try {
      const session = await connectRabbit(readTarget(config), egress, signal);
      try {
        return passed(await check(session, config.settings));
      } catch (error) {
        throw rabbitError(error);
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
