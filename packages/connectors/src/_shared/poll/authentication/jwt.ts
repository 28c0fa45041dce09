import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto';
import type {
  ConnectorConfig,
  PollGithubApp,
  PollJwt,
  PollPrivateKeyJwt,
  PollSelfSignedJwt,
} from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { SignJWT } from 'jose';
import { failed } from '../../connection-test/outcome.js';
import { readAddress } from '../address.js';
import { PollError } from '../poll-error.js';
import type { Credentials } from '../signing.js';
import { fillAll, fillCredential, fillOptional, readField } from './credentials.js';
import { renewalTime, tokenIn, type ObtainToken } from './token.js';

/** Lifetime of an assertion, in seconds. Google accepts one hour at most. */
const LIFETIME_S = 300;
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** GitHub accepts ten minutes at most, and its clock may be behind. */
const GITHUB_LIFETIME_S = 300;
const GITHUB_BACKDATED_S = 60;

interface Key {
  key: KeyObject;
  id?: string;
  /** The service account that the key file names. */
  owner?: string;
}

/** Exchanges a signed JWT for a token (RFC 7523). */
export function privateKeyJwt(method: PollPrivateKeyJwt, credentials: Credentials): ObtainToken {
  const { config, subject, requester, vendorNow } = credentials;
  const url = readAddress(method.token_url, { settings: config.settings }, subject);
  const isBearer = method.grant === 'jwt_bearer';
  const scope = method.scopes?.join(' ');
  const key = readKey(method, config);
  const issuer = method.issuer === undefined ? key.owner : fillCredential(method.issuer, config);
  const sign = signer({
    method,
    key,
    config,
    audience: url.href,
    issuer,
    subject: method.grant === 'client_assertion' ? issuer : undefined,
    claims: { ...(isBearer && scope !== undefined && { scope }), jti: () => crypto.randomUUID() },
  });
  const parameters = Object.fromEntries(fillAll(method.parameters, config));
  const isJson = method.body === 'json';
  return async (signal) => {
    const fields = { ...fieldsOf(method, await sign(vendorNow()), scope), ...parameters };
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
    const headers = new Headers({ accept: 'application/json', 'content-type': type });
    const body = isJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString();
    return tokenIn(await requester({ url: new URL(url), headers, body }, signal), method, credentials);
  };
}

function fieldsOf(
  { grant, parameter = 'assertion' }: PollPrivateKeyJwt,
  assertion: string,
  scope: string | undefined,
): Record<string, string> {
  if (grant === 'custom') return { [parameter]: assertion };
  if (grant === 'jwt_bearer') return { grant_type: JWT_BEARER, assertion };
  return {
    grant_type: 'client_credentials',
    client_assertion_type: ASSERTION,
    client_assertion: assertion,
    ...(scope !== undefined && { scope }),
  };
}

/** Sends a signed JWT as the token. */
export function selfSignedJwt(method: PollSelfSignedJwt, { config, now, vendorNow }: Credentials): ObtainToken {
  const key = readKey(method, config);
  const issuer = method.issuer === undefined ? key.owner : fillCredential(method.issuer, config);
  const sign = signer({ method, key, config, issuer, claims: {} });
  const lifetime = method.jwt_lifetime_seconds ?? LIFETIME_S;
  return async () => ({ value: await sign(vendorNow()), until: renewalTime(now(), lifetime) });
}

/** Token of an installation of a GitHub App. */
export function githubApp(method: PollGithubApp, credentials: Credentials): ObtainToken {
  const { config, subject, requester, now, vendorNow } = credentials;
  const api = readAddress(method.api_url ?? 'https://api.github.com', { settings: config.settings }, subject);
  const installation = encodeURIComponent(readField(config, method.installation_id));
  const url = new URL(`${api.href.replace(/\/$/, '')}/app/installations/${installation}/access_tokens`);
  const jwt: PollJwt = { key: method.key, key_format: 'pem', jwt_lifetime_seconds: GITHUB_LIFETIME_S };
  const issuer = readField(config, method.app_id);
  const sign = signer({ method: jwt, key: readKey(jwt, config), config, issuer, claims: {} });
  return async (signal) => {
    const headers = new Headers({
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${await sign(vendorNow() - GITHUB_BACKDATED_S * 1_000)}`,
    });
    const response = await requester({ url, headers }, signal);
    const expires = Date.parse(String(getAt(response.body, '/expires_at')));
    const lifetime = (expires - response.at) / 1_000;
    const token = tokenIn(response, { token: '/token' }, credentials);
    return lifetime > 0 ? { ...token, until: renewalTime(now(), lifetime) } : token;
  };
}

const nonce = (name: string): string | undefined => (name === 'nonce' ? crypto.randomUUID() : undefined);

interface Signer {
  method: PollJwt;
  key: Key;
  config: ConnectorConfig;
  /** Defaults for what the method leaves out. */
  audience?: string | undefined;
  issuer?: string | undefined;
  subject?: string | undefined;
  claims: Readonly<Record<string, string | (() => string)>>;
}

/** Returns a function from the time, in milliseconds, to a signed token. */
function signer({ method, key, config, claims, ...defaults }: Signer): (at: number) => Promise<string> {
  const { issuer } = defaults;
  const subject = method.subject === undefined ? defaults.subject : fillCredential(method.subject, config);
  const given = method.audience === undefined ? undefined : fillOptional(method.audience, config);
  const audience = given ?? defaults.audience;
  const id = method.key_id === undefined ? key.id : fillCredential(method.key_id, config);
  return async (at) => {
    const own = Object.entries(method.claims ?? {}).flatMap(([name, claim]): [string, string | number | boolean][] => {
      const value = typeof claim === 'string' ? fillOptional(claim, config, nonce) : claim;
      return value === undefined ? [] : [[name, value]];
    });
    const issued = Math.floor(at / 1_000);
    const fresh = Object.entries(claims).map(([name, claim]) => [name, typeof claim === 'string' ? claim : claim()]);
    const token = new SignJWT({ ...Object.fromEntries(fresh), ...Object.fromEntries(own) })
      .setProtectedHeader({ alg: method.algorithm ?? 'RS256', typ: 'JWT', ...(id !== undefined && { kid: id }) })
      .setIssuedAt(issued)
      .setExpirationTime(issued + (method.jwt_lifetime_seconds ?? LIFETIME_S));
    if (issuer !== undefined) token.setIssuer(issuer);
    if (subject !== undefined) token.setSubject(subject);
    if (audience !== undefined) token.setAudience(audience);
    try {
      return await token.sign(key.key);
    } catch {
      throw noKey(method);
    }
  };
}

/**
 * Parses the key. Ignores the token URL in a service account's key file: a forged file could name any
 * address.
 */
function readKey(method: PollJwt, config: ConnectorConfig): Key {
  const text = readField(config, method.key);
  try {
    if (method.key_format === 'text') return { key: createSecretKey(Buffer.from(text)) };
    if (method.key_format === 'base64') return { key: createSecretKey(Buffer.from(text, 'base64')) };
    if (method.key_format === 'pem') return { key: createPrivateKey(text) };
    const file: unknown = JSON.parse(text);
    const [pem, owner, id] = ['/private_key', '/client_email', '/private_key_id'].map((at): unknown => getAt(file, at));
    if (typeof pem !== 'string' || typeof owner !== 'string') throw noKey(method);
    return { key: createPrivateKey(pem), owner, ...(typeof id === 'string' && { id }) };
  } catch {
    throw noKey(method);
  }
}

function noKey({ key, key_format: format }: PollJwt): PollError {
  const message =
    format === 'service_account'
      ? 'This is not a service account key. Enter the whole JSON file.'
      : format === 'pem'
        ? 'This is not an unencrypted private key in PEM format, or it has another algorithm.'
        : 'This key is too short, or not encoded as expected.';
  return new PollError(failed('invalid_config', message, { at: key }), 'permanent');
}
