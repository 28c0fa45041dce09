import { ConnectorError, type TesterConfig } from '@connector-frame/engine/connector-api';
import type { BrokerAddress } from '../_shared/broker/connection.js';
import { compileName, isUnconfined, type NameTemplate } from '../_shared/broker/name-template.js';
import { text } from '../_shared/read.js';

export interface RedisTarget {
  address: BrokerAddress;
  database: number;
  username: string | undefined;
  password: string | undefined;
  /** Name of the master, if the address is a Sentinel's. */
  sentinel: string | undefined;
}

/**
 * Reads the server and the credentials.
 * @param field the setting with the URL
 * @throws ConnectorError `invalid_config`
 */
export function readTarget({ settings, secrets }: TesterConfig, field: 'url' | 'endpoint'): RedisTarget {
  const written = text(settings, field) ?? '';
  if (!URL.canParse(written)) throw new ConnectorError('invalid_config', 'This is not a valid address.', 'permanent');
  const { protocol, hostname, port, pathname } = new URL(written);
  const sentinel = text(settings, 'sentinel_service');
  return {
    address: {
      host: hostname,
      port: Number(port || (sentinel === undefined ? 6_379 : 26_379)),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
    database: Number(pathname.replaceAll('/', '') || 0),
    username: text(settings, 'username'),
    password: text(secrets, 'password'),
    sentinel,
  };
}

export interface InputSettings {
  kind: 'list' | 'channel';
  key: string;
  /** The end of the list at which entries are taken. */
  from: 'LEFT' | 'RIGHT';
  /** Record field for the key; empty for none. */
  keyField: string;
}

export const readInputSettings = (settings: Record<string, unknown>): InputSettings => ({
  kind: text(settings, 'data_type') === 'channel' ? 'channel' : 'list',
  key: text(settings, 'key') ?? '',
  from: text(settings, 'list', 'method') === 'rpop' ? 'RIGHT' : 'LEFT',
  keyField: text(settings, 'redis_key') ?? '',
});

export interface OutputSettings {
  command: 'rpush' | 'lpush' | 'publish' | 'zadd';
  key: NameTemplate;
  /** Only for `zadd`. */
  score: NameTemplate | undefined;
}

/** @throws ConnectorError `invalid_config` */
export function readOutputSettings(settings: Record<string, unknown>): OutputSettings {
  const kind = text(settings, 'data_type') ?? 'list';
  const key = compileName(text(settings, 'key') ?? '', isUnconfined(settings), 'key');
  if (kind === 'channel') return { command: 'publish', key, score: undefined };
  if (kind === 'list') {
    const command = text(settings, 'list_option', 'method') === 'lpush' ? 'lpush' : 'rpush';
    return { command, key, score: undefined };
  }
  const score = text(settings, 'sorted_set_option', 'score');
  if (score === undefined)
    throw new ConnectorError('invalid_config', 'Enter the score of the sorted set.', 'permanent');
  return { command: 'zadd', key, score: compileName(score, true, 'score') };
}
