import { createSecureContext, type ConnectionOptions } from 'node:tls';
import type { SASLOptions } from 'kafkajs';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import type { KafkaTarget } from './connection.js';

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
    return failed('invalid_config', 'The certificates and the key can not be used together.', { at: fields.tls });
  }
}
