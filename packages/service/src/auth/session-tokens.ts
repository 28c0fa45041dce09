import { randomUUID } from 'node:crypto';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { CompactSign, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Clock } from '../clock.js';
import { ApiError } from '../http/api-error.js';

const TYPE = 'embed-session+jwt';
const ISSUER = 'connector-frame';
const AUDIENCE = 'connector-frame/api';
const ALGORITHM = 'HS256';

/** Seconds. */
export const SESSION_TTL = { default: 1_800, min: 300, max: 3_600 } as const;

/** Seconds that the clocks of two replicas may be apart. */
const CLOCK_SKEW = 5;

/** What a session may act on. An absent bound binds nothing. */
export interface SessionScope {
  organizationId: string;
  /** The API key that minted it; the session dies with the key. */
  apiKeyId: string;
  kind?: ConnectorKind;
  typeIds?: readonly string[];
  /** Only this connector: read, change, test. No other may be made. */
  connectorId?: string;
  /** Origins of the pages that may hold the frame. */
  parentOrigins: readonly string[];
}

export interface Session extends SessionScope {
  /** Unique to this session. */
  id: string;
}

export interface SessionTokens {
  /** @param ttl seconds */
  mint(scope: SessionScope, ttl: number): Promise<{ token: string; expiresAt: Date }>;
  /** @throws ApiError 401 `invalid_token` or `token_expired` */
  verify(token: string): Promise<Session>;
}

const Claims = z.object({
  jti: z.string(),
  iat: z.number(),
  exp: z.number(),
  org: z.string(),
  key: z.string(),
  kind: z.enum(['input', 'output']).optional(),
  types: z.array(z.string()).readonly().optional(),
  connector: z.string().optional(),
  parents: z.array(z.string()).readonly(),
});

/**
 * Session tokens: JWT, HS256, nothing else.
 * @param keys 32 bytes each; the first signs, all verify, so that a change of master key ends no open form.
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
        kind: scope.kind,
        types: scope.typeIds,
        connector: scope.connectorId,
        parents: scope.parentOrigins,
      } satisfies z.input<typeof Claims> & Record<'iss' | 'aud', string>;
      // Not SignJWT: it takes a structured clone of the claims, a third of the time of minting.
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

// Imported once: jose would import raw bytes again for every token.
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
  // We write two header members; a third (kid, jwk, crit, ...) was not written by us.
  if (Object.keys(protectedHeader).length !== 2) throw invalid();
  const claims = Claims.parse(payload);
  if (claims.exp - claims.iat > SESSION_TTL.max || claims.iat > now / 1_000 + CLOCK_SKEW) throw invalid();
  return {
    id: claims.jti,
    organizationId: claims.org,
    apiKeyId: claims.key,
    parentOrigins: claims.parents,
    ...(claims.kind ? { kind: claims.kind } : {}),
    ...(claims.types ? { typeIds: claims.types } : {}),
    ...(claims.connector === undefined ? {} : { connectorId: claims.connector }),
  };
}

/** The key that minted the session, or its organization, is gone. */
export const ended = (): ApiError =>
  new ApiError(
    401,
    'invalid_token',
    'The session has ended: its API key was revoked or its organization was deleted.',
    challenge,
  );

const challenge = { headers: { 'WWW-Authenticate': 'Bearer' } };
const invalid = (): ApiError => new ApiError(401, 'invalid_token', 'The session token is not valid.', challenge);
const expired = (): ApiError =>
  new ApiError(401, 'token_expired', 'The session has expired; ask for a new one.', challenge);
