import {
  ConnectorError,
  systemClock,
  type Clock,
  type Egress,
  type TesterConfig,
} from '@connector-frame/engine/connector-api';
import { createTokenSource } from '../_shared/api/token-source.js';
import { toConnectorError } from '../_shared/api/api-error.js';
import { failed } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import { entraAuthentication, withTenant } from '../azure/entra.js';
import type { KafkaTarget } from '../kafka/client.js';
import type { InputSettings } from '../kafka/config.js';

const PORT = 9093;
const DEFAULT_LOOKBACK_MIN = 60;

/**
 * Returns the Kafka endpoint of a namespace, where an app of Entra signs in with OAUTHBEARER.
 * https://learn.microsoft.com/azure/event-hubs/azure-event-hubs-apache-kafka-overview
 * @throws ConnectorError `invalid_config`, permanent
 */
export function readTarget(config: TesterConfig, egress: Egress, clock: Clock = systemClock): KafkaTarget {
  const namespace = text(config.settings, 'event_hub_namespace') ?? '';
  // It becomes part of a host name.
  if (!/^[a-z0-9-]+$/i.test(namespace))
    throw toConnectorError(
      failed('invalid_config', 'This is not the name of a namespace.', { at: '/settings/event_hub_namespace' }),
    );
  const host = `${namespace}.servicebus.windows.net`;
  const token = createTokenSource(entraAuthentication(`https://${host}/.default`), withTenant(config), {
    subject: { product: 'Azure', credential: '/secrets/client_secret' },
    egress,
    clock,
    base: new URL(`https://${host}`),
  });
  let current: string | undefined;
  const prepare = async (signal: AbortSignal): Promise<void> => {
    current = await token(signal);
  };
  return {
    brokers: [`${host}:${PORT}`],
    tls: {},
    prepare,
    sasl: {
      mechanism: 'oauthbearer',
      async oauthBearerProvider() {
        // The client authenticates each connection, perhaps long after the first one.
        await prepare(AbortSignal.timeout(10_000));
        if (current === undefined) throw new ConnectorError('invalid_credentials', 'There is no token.', 'permanent');
        return { value: current };
      },
    },
  };
}

/** Reads the settings of the input. */
export function readSettings({ settings }: TesterConfig): InputSettings {
  const lookback = at(settings, 'lookback_duration');
  return {
    groupId: text(settings, 'consumer_group') ?? '$Default',
    names: [text(settings, 'event_hub_name') ?? ''],
    startAt: 'since',
    lookback: (typeof lookback === 'number' ? lookback : DEFAULT_LOOKBACK_MIN) * 60_000,
    commitEvery: 5_000,
    fetchWait: 500,
    // https://learn.microsoft.com/azure/event-hubs/apache-kafka-configurations
    sessionTimeout: 30_000,
    socketTimeout: 60_000,
    drainTimeout: 30_000,
  };
}
