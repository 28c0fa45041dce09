import { ConnectorError, type TesterConfig } from '@connector-frame/engine/connector-api';
import { readTls, type BrokerAddress } from '../_shared/broker/connection.js';
import { compileName, isUnconfined, type NameTemplate } from '../_shared/broker/name-template.js';
import { at, text } from '../_shared/read.js';

export interface RabbitTarget {
  address: BrokerAddress;
  vhost: string;
  username: string;
  password: string;
}

const invalid = (): ConnectorError =>
  new ConnectorError('invalid_config', 'This is not a valid connection string.', 'permanent');

/**
 * Reads the connection string. https://www.rabbitmq.com/docs/uri-spec
 * @throws ConnectorError `invalid_config`
 */
export function readTarget(config: TesterConfig): RabbitTarget {
  const written = text(config.secrets, 'connection_string') ?? '';
  if (!URL.canParse(written)) throw invalid();
  const { protocol, hostname, port, username, password, pathname } = new URL(written);
  const isSecure = protocol === 'amqps:';
  try {
    return {
      address: {
        host: hostname,
        port: Number(port || (isSecure ? 5_671 : 5_672)),
        ...(isSecure && { tls: readTls(config) }),
      },
      // Without a path, the virtual host is that of the default.
      vhost: pathname.length > 1 ? decodeURIComponent(pathname.slice(1)) : '/',
      username: decodeURIComponent(username || 'guest'),
      password: decodeURIComponent(password || 'guest'),
    };
  } catch {
    throw invalid();
  }
}

export interface InputSettings {
  queue: string;
  consumer: string;
  prefetch: number;
  /** Record fields; empty for none. */
  fields: { exchange: string; routingKey: string; offset: string };
}

const field = (settings: Record<string, unknown>, key: string, initial: string): string => {
  const value = settings[key];
  return typeof value === 'string' ? value.trim() : initial;
};

export const readInputSettings = (settings: Record<string, unknown>): InputSettings => ({
  queue: text(settings, 'queue') ?? '',
  consumer: text(settings, 'consumer') ?? 'connector-frame',
  prefetch: Number(at(settings, 'prefetch_count') ?? 1_000),
  fields: {
    exchange: field(settings, 'exchange_key', 'exchange'),
    routingKey: field(settings, 'routing_key_field', 'routing'),
    offset: field(settings, 'offset_key', 'offset'),
  },
});

export interface OutputSettings {
  exchange: string;
  routingKey: NameTemplate;
  contentType: string;
  contentEncoding: string | undefined;
  /** Milliseconds. */
  expiration: number | undefined;
  priority: NameTemplate | undefined;
}

/** @throws ConnectorError `invalid_config` */
export function readOutputSettings(settings: Record<string, unknown>): OutputSettings {
  const expiration = at(settings, 'properties', 'expiration_ms');
  const priority = text(settings, 'properties', 'priority');
  return {
    exchange: text(settings, 'exchange') ?? '',
    routingKey: compileName(text(settings, 'routing_key') ?? '', isUnconfined(settings), 'routing key'),
    contentType: text(settings, 'properties', 'content_type') ?? 'application/json',
    contentEncoding: text(settings, 'properties', 'content_encoding'),
    expiration: typeof expiration === 'number' ? expiration : undefined,
    priority: priority === undefined ? undefined : compileName(priority, true, 'priority'),
  };
}
