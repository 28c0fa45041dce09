import type { ConnectionOptions } from 'node:tls';
import { ConnectorError, type TesterConfig } from '@connector-frame/engine/connector-api';
import { readTls } from '../_shared/broker/connection.js';
import { compileName, isUnconfined, type NameTemplate } from '../_shared/broker/name-template.js';
import { at, text } from '../_shared/read.js';

export type NatsSignIn =
  | { kind: 'none' }
  | { kind: 'password'; user: string; password: string }
  | { kind: 'token'; token: string }
  | { kind: 'nkey'; seed: string };

export interface NatsTarget {
  /** Tried in order. */
  servers: { host: string; port: number }[];
  /** Absent: plaintext, unless the server asks for TLS. */
  tls?: ConnectionOptions;
  name: string;
  signIn: NatsSignIn;
}

/** @throws ConnectorError `invalid_config` */
export function readTarget(config: TesterConfig): NatsTarget {
  const { settings } = config;
  const written = (text(settings, 'url') ?? '').split(',').map((url) => url.trim());
  if (!written.every((url) => URL.canParse(url)))
    throw new ConnectorError('invalid_config', 'This is not a valid address.', 'permanent');
  const urls = written.map((url) => new URL(url));
  if (urls.some(({ protocol }) => protocol.startsWith('ws')))
    throw new ConnectorError(
      'invalid_config',
      'Connections over WebSocket are not supported. Use nats://.',
      'permanent',
    );
  const isSecure = at(settings, 'tls', 'enabled') === true || urls.some(({ protocol }) => protocol === 'tls:');
  return {
    servers: urls.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 4_222) })),
    ...(isSecure && { tls: readTls(config) }),
    name: text(settings, 'connection_name') ?? 'connector-frame',
    signIn: readSignIn(config),
  };
}

function readSignIn({ settings, secrets }: TesterConfig): NatsSignIn {
  switch (text(settings, 'auth', 'strategy')) {
    case 'user_password':
      return {
        kind: 'password',
        user: text(settings, 'auth', 'user_password', 'user') ?? '',
        password: text(secrets, 'password') ?? '',
      };
    case 'token':
      return { kind: 'token', token: text(secrets, 'value') ?? '' };
    case 'nkey':
      return { kind: 'nkey', seed: text(secrets, 'seed') ?? '' };
    default:
      return { kind: 'none' };
  }
}

export interface InputSettings {
  subject: string;
  queue: string | undefined;
  /** Record field for the subject; empty for none. */
  subjectField: string;
  /** Number of messages that may wait to be stored. */
  capacity: number;
}

export const readInputSettings = (settings: Record<string, unknown>): InputSettings => ({
  subject: text(settings, 'subject') ?? '',
  queue: text(settings, 'queue'),
  subjectField: typeof settings['subject_key_field'] === 'string' ? settings['subject_key_field'].trim() : 'subject',
  capacity: Number(at(settings, 'subscriber_capacity') ?? 65_536),
});

/** @throws ConnectorError `invalid_config` */
export const readSubject = (settings: Record<string, unknown>): NameTemplate =>
  compileName(text(settings, 'subject') ?? '', isUnconfined(settings), 'subject');
