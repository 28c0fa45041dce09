import { ConnectorError, type TesterConfig } from '@connector-frame/engine/connector-api';
import { readTls, type BrokerAddress } from '../_shared/broker/connection.js';
import { at, text } from '../_shared/read.js';
import type { SyslogFormat } from './format.js';

export interface SyslogTarget {
  address: BrokerAddress;
  format: SyslogFormat;
  program: string;
  /** RFC 6587: each message begins with its length. Otherwise, each ends with a line break. */
  countsOctets: boolean;
}

const FORMATS: readonly SyslogFormat[] = ['rfc5424', 'rfc3164', 'cef', 'raw'];

/** @throws ConnectorError `invalid_config` */
export function readSyslogTarget({ settings, secrets }: TesterConfig): SyslogTarget {
  const protocol = text(settings, 'protocol') ?? 'tls';
  // Connections go through the egress guard, which has no datagrams.
  if (protocol === 'udp')
    throw new ConnectorError('invalid_config', 'UDP is not supported. Choose TLS or TCP.', 'permanent');
  const key = text(secrets, 'client_key');
  const format = FORMATS.find((known) => known === text(settings, 'format')) ?? 'rfc5424';
  const isSecure = protocol === 'tls';
  return {
    address: {
      host: text(settings, 'host') ?? '',
      port: Number(at(settings, 'port') ?? 6_514),
      ...(isSecure && { tls: key?.includes('BEGIN CERTIFICATE') ? { key, cert: key } : {} }),
    },
    format,
    program: 'connector-frame',
    // RFC 5425 requires it; over TCP, line breaks are what most receivers expect.
    countsOctets: isSecure && format === 'rfc5424',
  };
}

/** @throws ConnectorError `invalid_config` */
export function readPapertrailTarget(config: TesterConfig): SyslogTarget {
  const { settings } = config;
  const endpoint = /^\[?(.+?)\]?(?::(\d+))?$/.exec(text(settings, 'endpoint') ?? '');
  const port = endpoint?.[2];
  if (endpoint?.[1] === undefined || port === undefined)
    throw new ConnectorError('invalid_config', 'Enter host and port, like logs5.papertrailapp.com:12345.', 'permanent');
  return {
    address: {
      host: endpoint[1],
      port: Number(port),
      ...(at(settings, 'tls', 'enabled') !== false && { tls: readTls(config) }),
    },
    format: 'rfc5424',
    program: (text(settings, 'process') ?? 'connector-frame').replaceAll(/[^!-~]/g, '-').slice(0, 48),
    countsOctets: false,
  };
}

/**
 * QRadar takes one event per line, over TLS as well.
 * https://www.ibm.com/docs/en/dsm?topic=options-tls-syslog-protocol-configuration
 *
 * @throws ConnectorError `invalid_config`
 */
export function readQradarTarget({ settings, secrets }: TesterConfig): SyslogTarget {
  const { endpoint: host } = settings;
  return { ...readSyslogTarget({ settings: { ...settings, host }, secrets }), countsOctets: false };
}
