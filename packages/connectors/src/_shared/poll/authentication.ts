import type {
  ConnectorConfig,
  PollAuthentication,
  PollKeyAuthentication,
  PollSingleAuthentication,
} from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { missing } from '../connection-test/outcome.js';
import { duoSignature } from './duo-signature.js';
import { PollError } from './poll-error.js';
import { privateKeyGrant } from './private-key-jwt.js';
import { basic, setHeader, type Authentication, type Credentials, type Outgoing } from './signing.js';
import { clientCredentialsGrant, tokenAuthentication } from './token.js';

/** Returns the secret fields of an authentication method, the decisive one last. */
export function secretsOf(method: PollSingleAuthentication): string[] {
  switch (method.kind) {
    case 'basic':
      return [method.user, ...(method.password === undefined ? [] : [method.password])];
    case 'client_credentials':
      return [method.client_id, method.client_secret];
    case 'private_key_jwt':
      return [method.key];
    case 'duo_hmac':
      return [method.key, method.secret];
    default:
      return [method.secret];
  }
}

/** Returns the authentication method that a configuration selects. */
export function selectedMethod(
  authentication: PollAuthentication,
  config: ConnectorConfig,
): PollSingleAuthentication | undefined {
  if (authentication.kind !== 'choice') return authentication;
  const value: unknown = getAt(config, authentication.field);
  return typeof value === 'string' && Object.hasOwn(authentication.of, value) ? authentication.of[value] : undefined;
}

/** @throws PollError `invalid_config` if a required field is empty */
export function createAuthentication(method: PollSingleAuthentication, credentials: Credentials): Authentication {
  const read = (path: string): string => readField(credentials.config, path);
  secretsOf(method).forEach(read);
  switch (method.kind) {
    case 'client_credentials':
      return tokenAuthentication(clientCredentialsGrant(method, credentials, read), credentials, method.prefix);
    case 'private_key_jwt':
      return tokenAuthentication(privateKeyGrant(method, credentials, read), credentials);
    case 'duo_hmac':
      return {
        sign: (request) =>
          Promise.resolve(duoSignature(request, read(method.key), read(method.secret), credentials.now())),
        renew: () => false,
      };
    default:
      return { sign: (request) => Promise.resolve(addKey(method, request, read)), renew: () => false };
  }
}

function addKey(method: PollKeyAuthentication, { url, headers }: Outgoing, read: (path: string) => string): void {
  switch (method.kind) {
    case 'bearer':
      return setHeader(headers, 'authorization', `Bearer ${read(method.secret)}`, method.secret);
    case 'header':
      return setHeader(headers, method.name, (method.prefix ?? '') + read(method.secret), method.secret);
    case 'query':
      return url.searchParams.set(method.name, read(method.secret));
    case 'basic': {
      const password = method.password === undefined ? '' : read(method.password);
      return setHeader(headers, 'authorization', basic(read(method.user), password), method.user);
    }
  }
}

function readField(config: ConnectorConfig, path: string): string {
  const value: unknown = getAt(config, path);
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '') throw new PollError(missing(path, 'This is required to sign in.'), 'permanent');
  return text;
}
