import type {
  ConnectorConfig,
  PollAuthentication,
  PollKeyAuthentication,
  PollSingleAuthentication,
} from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { awsAuthentication } from './authentication/aws-signature.js';
import { addBodyFields } from './authentication/body-fields.js';
import {
  addFields,
  fieldOf,
  fieldsIn,
  fillAll,
  fillCredential,
  readField,
  readOptional,
} from './authentication/credentials.js';
import { digestAuthentication } from './authentication/digest-authentication.js';
import { githubApp, privateKeyJwt, selfSignedJwt } from './authentication/jwt.js';
import { loginAuthentication } from './authentication/login.js';
import { oauth1Authentication } from './authentication/oauth1.js';
import { refreshToken } from './authentication/refresh-token.js';
import { signatureAuthentication } from './authentication/signature.js';
import { clientCredentials } from './authentication/token-request.js';
import { tokenAuthentication } from './authentication/token.js';
import { duoSignature } from './duo-signature.js';
import { basic, setHeader, type Authentication, type Credentials, type Outgoing } from './signing.js';

/** Returns the secrets that a method needs, the decisive one last. */
export function secretsOf(method: PollSingleAuthentication): string[] {
  // A role can be assumed without an access key.
  if (method.kind === 'aws_sigv4' && method.role_arn !== undefined) return [];
  const { session_token: _optional, ...needed } = { session_token: undefined, ...method };
  return fieldsIn(needed).filter((path) => path.startsWith('/secrets/'));
}

/** Returns the authentication method that a configuration selects. */
export function selectedMethod(
  authentication: PollAuthentication,
  config: ConnectorConfig,
): PollSingleAuthentication | undefined {
  if (authentication.kind === 'first') {
    const isFilled = (path: string): boolean => readOptional(config, path) !== undefined;
    return authentication.of.find((method) => secretsOf(method).every(isFilled)) ?? authentication.of.at(-1);
  }
  if (authentication.kind !== 'choice') return authentication;
  const value: unknown = getAt(config, authentication.field);
  const key = typeof value === 'boolean' ? String(value) : value;
  return typeof key === 'string' && Object.hasOwn(authentication.of, key) ? authentication.of[key] : undefined;
}

/** @throws PollError `invalid_config` if a required field is empty */
export function createAuthentication(method: PollSingleAuthentication, credentials: Credentials): Authentication {
  const read = (path: string): string => readField(credentials.config, path);
  secretsOf(method).forEach(read);
  switch (method.kind) {
    case 'client_credentials':
      return tokenAuthentication(clientCredentials(method, credentials), method, credentials);
    case 'refresh_token':
      return tokenAuthentication(refreshToken(method, credentials), method, credentials);
    case 'private_key_jwt':
      return tokenAuthentication(privateKeyJwt(method, credentials), method, credentials);
    case 'jwt':
      return tokenAuthentication(selfSignedJwt(method, credentials), method, credentials);
    case 'github_app':
      return tokenAuthentication(githubApp(method, credentials), {}, credentials);
    case 'login':
      return loginAuthentication(method, credentials);
    case 'digest':
      return digestAuthentication(method, credentials);
    case 'signature':
      return signatureAuthentication(method, credentials);
    case 'oauth1':
      return oauth1Authentication(method, credentials);
    case 'aws_sigv4':
      return awsAuthentication(method, credentials);
    case 'duo_hmac':
      return signing((request) =>
        duoSignature(request, read(method.key), read(method.secret), credentials.vendorNow()),
      );
    case 'none':
      return signing(() => undefined);
    default:
      return signing((request) => addKey(method, request, credentials.config));
  }
}

const signing = (sign: (request: Outgoing) => void): Authentication => ({
  sign: (request) => Promise.resolve(sign(request)),
  renew: () => false,
});

function addKey(method: PollKeyAuthentication, request: Outgoing, config: ConnectorConfig): void {
  const { url, headers } = request;
  switch (method.kind) {
    case 'bearer':
      return setHeader(headers, 'authorization', `Bearer ${readField(config, method.secret)}`, method.secret);
    case 'header':
      return setHeader(headers, method.name, (method.prefix ?? '') + readField(config, method.secret), method.secret);
    case 'query':
      return url.searchParams.set(method.name, readField(config, method.secret));
    case 'basic': {
      const { user, password = '' } = method;
      const value = basic(fillCredential(user, config), fillCredential(password, config));
      return setHeader(headers, 'authorization', value, fieldOf(user));
    }
    case 'fields': {
      const root = method.optional ? '/' : '/settings/';
      addFields(method, request, config, undefined, root);
      return addBodyFields(request, fillAll(method.body, config, undefined, root));
    }
  }
}
