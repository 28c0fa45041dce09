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
import { basic, put, type Authentication, type Credentials, type Outgoing } from './signing.js';
import { clientCredentialsGrant, tokenAuthentication } from './token.js';

/** Returns the secret fields of an authentication method, the decisive one last. */
export function secretsOf(way: PollSingleAuthentication): string[] {
  switch (way.kind) {
    case 'basic':
      return [way.user, ...(way.password === undefined ? [] : [way.password])];
    case 'client_credentials':
      return [way.client_id, way.client_secret];
    case 'private_key_jwt':
      return [way.key];
    case 'duo_hmac':
      return [way.key, way.secret];
    default:
      return [way.secret];
  }
}

/** Returns the authentication method that a configuration selects. */
export function chosenWay(
  authentication: PollAuthentication,
  config: ConnectorConfig,
): PollSingleAuthentication | undefined {
  if (authentication.kind !== 'choice') return authentication;
  const value: unknown = getAt(config, authentication.field);
  return typeof value === 'string' && Object.hasOwn(authentication.of, value) ? authentication.of[value] : undefined;
}

/** @throws PollError `invalid_config` if a required field is empty */
export function createAuthentication(way: PollSingleAuthentication, credentials: Credentials): Authentication {
  const read = (path: string): string => readField(credentials.config, path);
  secretsOf(way).forEach(read);
  switch (way.kind) {
    case 'client_credentials':
      return tokenAuthentication(clientCredentialsGrant(way, credentials, read), credentials, way.prefix);
    case 'private_key_jwt':
      return tokenAuthentication(privateKeyGrant(way, credentials, read), credentials);
    case 'duo_hmac':
      return {
        sign: (request) => Promise.resolve(duoSignature(request, read(way.key), read(way.secret), credentials.now())),
        renew: () => false,
      };
    default:
      return { sign: (request) => Promise.resolve(putKey(way, request, read)), renew: () => false };
  }
}

function putKey(way: PollKeyAuthentication, { url, headers }: Outgoing, read: (path: string) => string): void {
  switch (way.kind) {
    case 'bearer':
      return put(headers, 'authorization', `Bearer ${read(way.secret)}`, way.secret);
    case 'header':
      return put(headers, way.name, (way.prefix ?? '') + read(way.secret), way.secret);
    case 'query':
      return url.searchParams.set(way.name, read(way.secret));
    case 'basic': {
      const password = way.password === undefined ? '' : read(way.password);
      return put(headers, 'authorization', basic(read(way.user), password), way.user);
    }
  }
}

function readField(config: ConnectorConfig, path: string): string {
  const value: unknown = getAt(config, path);
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '') throw new PollError(missing(path, 'This is needed to sign in.'), 'permanent');
  return text;
}
