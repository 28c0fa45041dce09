import { isSendable, parseKeyPath, type KeyPath, type TesterConfig } from '@connector-frame/engine/connector-api';
import { isRecord } from '@connector-frame/engine/connector-api';
import type { BrokerAddress } from '../_shared/broker/connection.js';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

export interface OtelTarget {
  url: URL;
  protocol: 'http' | 'grpc';
  /** For gRPC. */
  address: BrokerAddress;
  headers: readonly (readonly [name: string, value: string])[];
  verifyTls: boolean;
  /** Absent: records are OTLP already. */
  wrap?: { timestamp: KeyPath | undefined; severity: KeyPath | undefined };
}

/** @throws ConnectorError `invalid_config` */
export function readOtelTarget({ settings, secrets }: TesterConfig): OtelTarget {
  const endpoint = text(settings, 'endpoint') ?? '';
  const whole = endpoint.includes('://') ? endpoint : `https://${endpoint}`;
  if (!URL.canParse(whole)) throw invalidConfig('This is not a valid address.');
  const url = new URL(whole);
  const isSecure = url.protocol === 'https:';
  const verifyTls = at(settings, 'tls_skip_verify') !== true;
  const protocol = text(settings, 'protocol') === 'grpc' ? 'grpc' : 'http';
  const wraps = text(settings, 'mode', 'type') !== 'passthrough';
  if (!wraps && protocol === 'grpc')
    throw invalidConfig('Records that are OTLP already are sent by HTTP only. Choose HTTP, usually on port 4318.');
  const path = (name: string): KeyPath | undefined => {
    const field = text(settings, 'mode', 'wrap_as_logs', name);
    return field === undefined ? undefined : parseKeyPath(field);
  };
  return {
    url,
    protocol,
    address: {
      host: url.hostname,
      port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
      ...(isSecure && { tls: verifyTls ? {} : { rejectUnauthorized: false } }),
    },
    headers: readHeaders(at(secrets, 'headers')),
    verifyTls,
    ...(wraps && { wrap: { timestamp: path('timestamp_field'), severity: path('severity_field') } }),
  };
}

function readHeaders(given: unknown): [string, string][] {
  const rows = Object.entries(isRecord(given) ? given : {}).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name.trim().toLowerCase(), value.trim()]] : [],
  );
  if (!rows.every((row) => isSendable(...row)))
    throw invalidConfig('A header cannot be sent: its name, or a character in its value, is not allowed.');
  return rows;
}

/**
 * Returns the URL of a signal: below the endpoint, unless it names the signal already.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp
 */
export function signalUrl({ url }: OtelTarget, signal: 'logs' | 'metrics' | 'traces'): string {
  const path = url.pathname.replace(/\/+$/, '');
  const base = path.replace(/\/v1\/(?:logs|metrics|traces)$/, '');
  return `${url.origin}${base}/v1/${signal}`;
}
