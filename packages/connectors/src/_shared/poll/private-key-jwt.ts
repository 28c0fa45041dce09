import type { PollPrivateKeyJwt } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { importPKCS8, SignJWT } from 'jose';
import { failed } from '../connection-test/outcome.js';
import { readAddress } from './address.js';
import { PollError } from './poll-error.js';
import type { Credentials, Grant } from './signing.js';
import { fill } from './template.js';

/** Lifetime of the assertion, in seconds. Google accepts one hour at most. */
const LIFETIME_S = 300;
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Creates grants with an assertion signed by the private key (RFC 7523). */
export function privateKeyGrant(
  way: PollPrivateKeyJwt,
  { config, subject, now }: Credentials,
  read: (path: string) => string,
): () => Promise<Grant> {
  const { settings } = config;
  const url = readAddress(way.token_url, { settings }, subject);
  const { pem, keyId, owner } = readKey(way, read(way.key));
  const issuer = way.issuer === undefined ? owner : read(way.issuer);
  const bearer = way.grant === 'jwt_bearer';
  const onBehalf = way.subject === undefined ? (bearer ? undefined : issuer) : read(way.subject);
  const audience = (way.audience === undefined ? undefined : fill(way.audience, { settings })) ?? url.href;
  const scope = way.scopes?.join(' ');

  return async () => {
    const algorithm = way.algorithm ?? 'RS256';
    const key = await importPKCS8(pem, algorithm).catch(() => {
      throw noKey(way);
    });
    const issued = Math.floor(now() / 1_000);
    const claims = { ...(bearer && scope !== undefined && { scope }), jti: crypto.randomUUID() };
    let statement = new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
      .setAudience(audience)
      .setIssuedAt(issued)
      .setExpirationTime(issued + LIFETIME_S);
    if (issuer !== undefined) statement = statement.setIssuer(issuer);
    if (onBehalf !== undefined) statement = statement.setSubject(onBehalf);
    const assertion = await statement.sign(key);
    const fields: Record<string, string> = bearer
      ? { grant_type: JWT_BEARER, assertion }
      : {
          grant_type: 'client_credentials',
          client_assertion_type: ASSERTION,
          client_assertion: assertion,
          ...(scope !== undefined && { scope }),
        };
    const headers = new Headers({ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' });
    return { url, headers, body: new URLSearchParams(fields).toString() };
  };
}

interface Key {
  pem: string;
  keyId?: string;
  /** The service account that the key file names. */
  owner?: string;
}

/**
 * Parses the key. Ignores the token URL in a service account's key file: a forged file could name
 * any address.
 */
function readKey(way: PollPrivateKeyJwt, text: string): Key {
  if (way.key_format === 'pem') return { pem: text };
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw noKey(way);
  }
  const pem: unknown = getAt(file, '/private_key');
  const owner: unknown = getAt(file, '/client_email');
  const keyId: unknown = getAt(file, '/private_key_id');
  if (typeof pem !== 'string' || typeof owner !== 'string') throw noKey(way);
  return { pem, owner, ...(typeof keyId === 'string' && { keyId }) };
}

function noKey({ key, key_format: format }: PollPrivateKeyJwt): PollError {
  const message =
    format === 'pem'
      ? 'This is no private key in PKCS 8 form.'
      : "This is no service account's key: the whole JSON file is needed.";
  return new PollError(failed('invalid_config', message, { at: key }), 'permanent');
}
