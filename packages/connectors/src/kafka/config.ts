import { createSecureContext, type ConnectionOptions } from 'node:tls';
import type { SASLOptions, CompressionTypes } from 'kafkajs';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { type TesterConfig, ConnectorError, isRecord } from '@connector-frame/engine/connector-api';
import { at, text, texts } from '../_shared/read.js';
import type { KafkaTarget } from './client.js';
import type { StartAt } from './positions.js';
import { compilePattern } from './topic-pattern.js';
import { hasZstd } from './compression/codecs.js';
import type { MessageOptions } from './messages.js';

/** Pointers to a type's authentication and TLS fields. */
export interface KafkaFields {
  user: string;
  tls: string[];
}

export const inputFields: KafkaFields = {
  user: '/settings/sasl/username',
  tls: ['/settings/tls/client_certificate', '/secrets/client_key'],
};
export const outputFields: KafkaFields = {
  user: '/settings/username',
  tls: ['/secrets/client_certificate', '/secrets/client_key'],
};

/** Reads the cluster from the input's settings. */
export function readInputTarget({ settings, secrets }: TesterConfig): KafkaTarget | Failure {
  const signIn = at(settings, 'sasl', 'enabled') === true;
  const sasl = signIn
    ? readSasl(text(settings, 'sasl', 'mechanism'), text(settings, 'sasl', 'username'), secrets, inputFields)
    : {};
  const pems = {
    ca: text(settings, 'tls', 'ca_certificate'),
    cert: text(settings, 'tls', 'client_certificate'),
    key: text(secrets, 'client_key'),
  };
  const tls = at(settings, 'tls', 'enabled') === true ? readTls(pems, inputFields) : {};
  return assemble(settings, sasl, tls);
}

/** Reads the cluster from the output's settings. */
export function readOutputTarget({ settings, secrets }: TesterConfig): KafkaTarget | Failure {
  const protocol = text(settings, 'security_protocol') ?? 'SASL_SSL';
  const sasl = protocol.startsWith('SASL')
    ? readSasl(text(settings, 'sasl_mechanism'), text(settings, 'username'), secrets, outputFields)
    : {};
  const pems = {
    ca: text(secrets, 'ca_certificate'),
    cert: text(secrets, 'client_certificate'),
    key: text(secrets, 'client_key'),
  };
  const tls = protocol.endsWith('SSL') ? readTls(pems, outputFields) : {};
  return assemble(settings, sasl, tls);
}

type Part<T> = T | Record<string, never> | Failure;

function assemble(
  settings: Record<string, unknown>,
  sasl: Part<{ sasl: SASLOptions }>,
  tls: Part<{ tls: ConnectionOptions }>,
): KafkaTarget | Failure {
  if (isFailure(sasl)) return sasl;
  if (isFailure(tls)) return tls;
  const brokers = (text(settings, 'bootstrap_servers') ?? '').split(',').map((each) => each.trim());
  return { brokers, ...sasl, ...tls };
}

const isFailure = (part: object): part is Failure => 'ok' in part;

function readSasl(
  mechanism: string | undefined,
  username: string | undefined,
  secrets: Record<string, unknown>,
  { user }: KafkaFields,
): { sasl: SASLOptions } | Failure {
  const password = text(secrets, 'password');
  if (username === undefined) return missing(user, 'Enter the user name.');
  if (password === undefined) return missing('/secrets/password', 'Enter the password.');
  switch (mechanism) {
    case 'SCRAM-SHA-256':
      return { sasl: { mechanism: 'scram-sha-256', username, password } };
    case 'SCRAM-SHA-512':
      return { sasl: { mechanism: 'scram-sha-512', username, password } };
    default:
      return { sasl: { mechanism: 'plain', username, password } };
  }
}

function readTls(
  { ca, cert, key }: { ca: string | undefined; cert: string | undefined; key: string | undefined },
  fields: KafkaFields,
): { tls: ConnectionOptions } | Failure {
  const tls = { ...(ca !== undefined && { ca }), ...(cert !== undefined && key !== undefined && { cert, key }) };
  try {
    createSecureContext(tls);
    return { tls };
  } catch {
    return failed('invalid_config', 'The certificates and the key cannot be used together.', { at: fields.tls });
  }
}

/** Times in milliseconds. */
export interface InputSettings {
  groupId: string;
  /** Topics listed by name. */
  names: string[];
  /** Whether a topic matches one of the patterns. Absent: no patterns are configured. */
  matches?: (name: string) => boolean;
  startAt: StartAt;
  /** For `since`: how far back to read at the first start. */
  lookback?: number;
  commitEvery: number;
  fetchWait: number;
  sessionTimeout: number;
  socketTimeout: number;
  drainTimeout: number;
}

export function readInputSettings({ settings }: TesterConfig): InputSettings | Failure {
  const topics = texts(settings, 'topics');
  const patterns = topics.flatMap((topic, index) => (topic.startsWith('^') ? [{ topic, index }] : []));
  const compiled = patterns.map(({ topic }) => compilePattern(topic));
  const wrong = patterns.filter((_pattern, index) => compiled[index] === undefined);
  if (wrong.length > 0) {
    return failed('invalid_config', 'This is not a valid pattern.', {
      hint: 'Supported are letters, dots, [sets], *, +, ? and a final $. Enter each alternative in its own row.',
      at: wrong.map(({ index }) => `/settings/topics/${index}`),
    });
  }
  const startAt = text(settings, 'auto_offset_reset');
  const sessionTimeout = Number(at(settings, 'session_timeout_ms') ?? 10_000);
  return {
    groupId: text(settings, 'group_id') ?? '',
    names: topics.filter((topic) => !topic.startsWith('^')),
    ...(compiled.length > 0 && { matches: (name: string) => compiled.some((match) => match?.(name)) }),
    startAt: startAt === 'smallest' || startAt === 'error' ? startAt : 'largest',
    commitEvery: Number(at(settings, 'commit_interval_ms') ?? 5_000),
    fetchWait: Number(at(settings, 'fetch_wait_max_ms') ?? 100),
    sessionTimeout,
    socketTimeout: Number(at(settings, 'socket_timeout_ms') ?? 60_000),
    drainTimeout: Number(at(settings, 'drain_timeout_ms') ?? sessionTimeout),
  };
}

export interface OutputSettings {
  topic: string;
  /** -1: all in-sync replicas. */
  acks: -1 | 0 | 1;
  compression: CompressionTypes;
  retries: number;
  messages: MessageOptions;
}

/** Codes of the protocol: https://kafka.apache.org/documentation/#recordbatch */
const compressions: Readonly<Record<string, CompressionTypes>> = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 };

/** @throws ConnectorError `invalid_config`: this version of Node.js lacks the compression */
export function readOutputSettings(settings: Record<string, unknown>): OutputSettings {
  const compression = text(settings, 'compression_type') ?? 'none';
  if (compression === 'zstd' && !hasZstd) {
    const message = 'Compression with Zstandard requires Node.js 22.15 or later. Choose another one.';
    throw new ConnectorError('invalid_config', message, 'permanent');
  }
  const acks = text(settings, 'acks');
  const headers = at(settings, 'headers');
  return {
    topic: text(settings, 'topic') ?? '',
    acks: acks === '0' ? 0 : acks === '1' ? 1 : -1,
    compression: compressions[compression] ?? 0,
    retries: Number(at(settings, 'retries') ?? 3),
    messages: {
      arrays: text(settings, 'payload_format') === 'json_array',
      keyField: text(settings, 'message_key_field'),
      headers: Object.fromEntries(
        (Array.isArray(headers) ? headers : []).flatMap((each): [string, string][] => {
          const name = isRecord(each) ? text(each, 'key') : undefined;
          return name === undefined ? [] : [[name, text(each, 'value') ?? '']];
        }),
      ),
    },
  };
}
