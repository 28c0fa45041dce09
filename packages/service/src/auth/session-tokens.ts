import { randomUUID } from 'node:crypto';
import { CONNECTOR_KINDS } from '@connector-frame/catalog';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { CompactSign, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Clock } from '../clock.js';
import { ApiError } from '../api-error.js';

const TYPE = 'embed-session+jwt';
const ISSUER = 'connector-frame';
const AUDIENCE = 'connector-frame/api';
const ALGORITHM = 'HS256';

/** Lifetime of a session, in seconds. */
export const SESSION_TTL = { default: 1_800, min: 300, max: 3_600 } as const;

/** Maximum clock difference between two replicas, in seconds. */
const CLOCK_SKEW = 5;

/** What a session may access. An absent property imposes no restriction. */
export interface SessionScope {
  organizationId: string;
  /** The API key that created the session. The session ends with the key. */
  apiKeyId: string;
  /** `tokenVersion` of that key. The session ends when the key is regenerated. */
  keyVersion: number;
  kind?: ConnectorKind;
  typeIds?: readonly string[];
  /** Restricts the session to reading, changing and testing this connector. */
  connectorId?: string;
  /** Secrets of the organization that connectors may refer to. Absent: none. */
  secretIds?: readonly string[];
  /** Origins of pages that may embed the frame. */
  parentOrigins: readonly string[];
}

export interface Session extends SessionScope {
  /** Unique id of the session. */
  id: string;
}

export interface SessionTokens {
  /**
   * Creates a signed token.
   * @param ttl seconds
   */
  mint(scope: SessionScope, ttl: number): Promise<{ token: string; expiresAt: Date }>;
  /**
   * Verifies a token and returns its session.
   * @throws ApiError 401 `invalid_token` or `token_expired`
   */
  verify(token: string): Promise<Session>;
}

const Claims = z.object({
  jti: z.string(),
  iat: z.number(),
  exp: z.number(),
  org: z.string(),
  key: z.string(),
  // Tokens of earlier releases have none.
  ver: z.int().default(1),
  kind: z.enum(CONNECTOR_KINDS).optional(),
  types: z.array(z.string()).readonly().optional(),
  connector: z.string().optional(),
  secrets: z.array(z.string()).readonly().optional(),
  parents: z.array(z.string()).readonly(),
});

/**
 * Creates and verifies session tokens: JWT, HS256 only.
 * @param keys 32 bytes each. The first signs and all verify, so that changing the master key does
 *   not end open sessions.
 */
export function createSessionTokens(keys: readonly [Uint8Array, ...Uint8Array[]], clock: Clock): SessionTokens {
  const [signing, ...older] = keys;
  const current = importKey(signing);
  const all = [current, ...older.map(importKey)];
  return {
    async mint(scope, ttl) {
      const now = Math.floor(clock.now() / 1_000);
      const claims = {
        iss: ISSUER,
        aud: AUDIENCE,
        jti: randomUUID(),
        iat: now,
        exp: now + ttl,
        org: scope.organizationId,
        key: scope.apiKeyId,
        ver: scope.keyVersion,
        kind: scope.kind,
        types: scope.typeIds,
        connector: scope.connectorId,
        secrets: scope.secretIds,
        parents: scope.parentOrigins,
      } satisfies z.input<typeof Claims> & Record<'iss' | 'aud', string>;
      // Avoids SignJWT: it copies the claims with `structuredClone`, a third of the time of
      // minting.
      const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .sign(await current);
      return { token, expiresAt: new Date((now + ttl) * 1_000) };
    },

    async verify(token) {
      for (const key of all) {
        try {
          return await read(token, await key, clock.now());
        } catch (error) {
          if (error instanceof errors.JWTExpired) throw expired();
          if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw invalid();
        }
      }
      throw invalid();
    },
  };
}

// Import each key once: jose would import raw bytes again for every token.
const importKey = (bytes: Uint8Array): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', Buffer.from(bytes), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

async function read(token: string, key: CryptoKey, now: number): Promise<Session> {
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    algorithms: [ALGORITHM],
    typ: TYPE,
    issuer: ISSUER,
    audience: AUDIENCE,
    requiredClaims: ['exp', 'iat', 'jti'],
    currentDate: new Date(now),
    clockTolerance: 0,
  });
  // Tokens have exactly two header parameters, `alg` and `typ`. Any other (kid, jwk, crit, ...)
  // means that the service did not issue the token.
  if (Object.keys(protectedHeader).length !== 2) throw invalid();
  const claims = Claims.parse(payload);
  if (claims.exp - claims.iat > SESSION_TTL.max || claims.iat > now / 1_000 + CLOCK_SKEW) throw invalid();
  return {
    id: claims.jti,
    organizationId: claims.org,
    apiKeyId: claims.key,
    keyVersion: claims.ver,
    parentOrigins: claims.parents,
    ...(claims.kind ? { kind: claims.kind } : {}),
    ...(claims.types ? { typeIds: claims.types } : {}),
    ...(claims.connector === undefined ? {} : { connectorId: claims.connector }),
    ...(claims.secrets === undefined ? {} : { secretIds: claims.secrets }),
  };
}

/** Creates the error for a session whose API key or organization no longer allows it. */
export const ended = (): ApiError =>
  new ApiError(
    401,
    'invalid_token',
    'The session has ended: its API key was revoked, regenerated or restricted, or its organization was deleted.',
    challenge,
  );

const challenge = { headers: { 'WWW-Authenticate': 'Bearer' } };
const invalid = (): ApiError => new ApiError(401, 'invalid_token', 'The session token is not valid.', challenge);
const expired = (): ApiError =>
  new ApiError(401, 'token_expired', 'The session has expired. Create a new one.', challenge);
