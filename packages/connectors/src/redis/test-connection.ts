import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import { connectRedis, redisError } from './client.js';
import { readInputSettings, readOutputSettings, readTarget } from './config.js';

/** What a key has to be for each command. `none`: the key does not exist yet. */
const typeFor: Readonly<Record<string, string>> = { list: 'list', rpush: 'list', lpush: 'list', zadd: 'zset' };

export const testRedisInput: Tester = createRedisTester('url', (settings) => {
  const { kind, key } = readInputSettings(settings);
  return { key: kind === 'list' ? key : undefined, type: typeFor[kind] };
});

export const testRedisOutput: Tester = createRedisTester('endpoint', (settings) => {
  const { command, key } = readOutputSettings(settings);
  return { key: command === 'publish' ? undefined : key.fixed, type: typeFor[command] };
});

function createRedisTester(
  field: 'url' | 'endpoint',
  used: (settings: Record<string, unknown>) => { key: string | undefined; type: string | undefined },
): Tester {
  return createBrokerTester({
    fields: {
      product: 'Redis',
      address: `/settings/${field}`,
      user: '/settings/username',
      password: '/secrets/password',
      name: '/settings/key',
    },
    connect(config, egress, signal) {
      used(config.settings);
      return connectRedis(readTarget(config, field), egress, signal);
    },
    async check({ redis }, settings) {
      const { key, type } = used(settings);
      const found = key === undefined ? 'none' : await redis.type(key);
      if (found !== 'none' && found !== type)
        throw new ConnectorError('rejected', 'The key holds something else.', 'permanent');
      return 'Signed in.';
    },
    close: ({ redis }) => redis.disconnect(),
    convert: redisError,
  });
}
