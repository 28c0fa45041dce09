import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { readTls, type BrokerAddress } from '../_shared/broker/connection.js';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

const DEFAULT_PORT = 6_000;

export interface VectorTarget {
  address: BrokerAddress;
  gzip: boolean;
}

/** @throws ConnectorError `invalid_config` */
export function readVectorTarget(config: TesterConfig): VectorTarget {
  const { settings } = config;
  const given = text(settings, 'address') ?? '';
  const enabled = at(settings, 'tls', 'enabled');
  // A scheme decides, unless the switch does.
  const isSecure = enabled === undefined ? given.startsWith('https://') : enabled === true;
  const whole = `${isSecure ? 'https' : 'http'}://${given.replace(/^https?:\/\//, '')}`;
  if (!URL.canParse(whole)) throw invalidConfig('This is not a valid address.');
  const { hostname, port } = new URL(whole);
  return {
    address: {
      host: hostname,
      port: port === '' ? (/:(?:80|443)\/?$/.exec(given) ? (isSecure ? 443 : 80) : DEFAULT_PORT) : Number(port),
      ...(isSecure && { tls: readTls(config) }),
    },
    // A request names its encoding. Node.js 20 has no Zstandard.
    gzip: (text(settings, 'compression') ?? 'none') !== 'none',
  };
}
