import { ConnectorError, type Tester, type TesterConfig } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { failureOf } from '../_shared/broker/test-failure.js';
import { connectRedis, redisError } from './client.js';
import { readInputSettings, readOutputSettings, readTarget } from './config.js';

/** What a key has to be for each command. `none`: the key does not exist yet. */
const typeFor: Readonly<Record<string, string>> = { list: 'list', rpush: 'list', lpush: 'list', zadd: 'zset' };

export const testRedisInput: Tester = createRedisTester('url', ({ settings }) => {
  const { kind, key } = readInputSettings(settings);
  return { key: kind === 'list' ? key : undefined, type: typeFor[kind] };
});

export const testRedisOutput: Tester = createRedisTester('endpoint', ({ settings }) => {
  const { command, key } = readOutputSettings(settings);
  return { key: command === 'publish' ? undefined : key.fixed, type: typeFor[command] };
});

function createRedisTester(
  field: 'url' | 'endpoint',
  used: (config: TesterConfig) => { key: string | undefined; type: string | undefined },
): Tester {
  const fields = {
    product: 'Redis',
    address: `/settings/${field}`,
    user: '/settings/username',
    password: '/secrets/password',
    name: '/settings/key',
  };
  return createTester(fields, async (config, { egress, signal }) => {
    try {
      const { key, type } = used(config);
      const { redis } = await connectRedis(readTarget(config, field), egress, signal);
      try {
        const found = key === undefined ? 'none' : await redis.type(key);
        if (found !== 'none' && found !== type)
          throw new ConnectorError('rejected', 'The key holds something else.', 'permanent');
      } catch (error) {
        throw redisError(error);
      } finally {
        redis.disconnect();
      }
      return passed('Signed in.');
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ConnectorError) return failureOf(error, fields);
      throw error;
    }
  });
}
