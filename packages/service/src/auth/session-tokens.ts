import { CONNECTOR_KINDS } from '@connector-frame/catalog';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { z } from 'zod';
import type { Clock } from '../clock.js';
import { ApiError } from '../api-error.js';
import { createSignedTokens, type TokenKind } from './signed-tokens.js';

/** Lifetime of a session, in seconds. */
export const SESSION_TTL = { default: 1_800, min: 300, max: 3_600 } as const;

const KIND: TokenKind = {
  type: 'embed-session+jwt',
  audience: 'connector-frame/api',
  maxTtl: SESSION_TTL.max,
};

/**
 * Who created a session: an API key, until it is regenerated, or a user, until the sign-in ends. The
 * session ends with it.
 */
export type SessionCreator =
  | { type: 'key'; apiKeyId: string; keyVersion: number }
  | { type: 'user'; userId: string; signInId: string };

/** What a session may access. An absent property imposes no restriction. */
export interface SessionScope {
  organizationId: string;
  creator: SessionCreator;
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
  org: z.string(),
  key: z.string().optional(),
  // Tokens of earlier releases have none.
  ver: z.int().default(1),
  usr: z.string().optional(),
  sid: z.string().optional(),
  kind: z.enum(CONNECTOR_KINDS).optional(),
  types: z.array(z.string()).readonly().optional(),
  connector: z.string().optional(),
  secrets: z.array(z.string()).readonly().optional(),
  parents: z.array(z.string()).readonly(),
});

/**
 * Creates and verifies session tokens.
 * @param keys see `createSignedTokens`
 */
export function createSessionTokens(keys: readonly [Uint8Array, ...Uint8Array[]], clock: Clock): SessionTokens {
  const tokens = createSignedTokens(KIND, keys, clock);
  return {
    mint: (scope, ttl) => tokens.sign(claimsOf(scope), ttl),

    async verify(token) {
      const payload = await tokens.verify(token);
      if (payload === 'expired') throw expired();
      const { data: claims } = Claims.safeParse(payload);
      const creator = claims && creatorIn(claims);
      if (!creator) throw invalid();
      return {
        id: claims.jti,
        organizationId: claims.org,
        creator,
        parentOrigins: claims.parents,
        ...(claims.kind ? { kind: claims.kind } : {}),
        ...(claims.types ? { typeIds: claims.types } : {}),
        ...(claims.connector === undefined ? {} : { connectorId: claims.connector }),
        ...(claims.secrets === undefined ? {} : { secretIds: claims.secrets }),
      };
    },
  };
}

function claimsOf({ creator, ...scope }: SessionScope): Omit<z.input<typeof Claims>, 'jti'> {
  return {
    org: scope.organizationId,
    ...(creator.type === 'key'
      ? { key: creator.apiKeyId, ver: creator.keyVersion }
      : { usr: creator.userId, sid: creator.signInId }),
    kind: scope.kind,
    types: scope.typeIds,
    connector: scope.connectorId,
    secrets: scope.secretIds,
    parents: scope.parentOrigins,
  };
}

function creatorIn({ key, ver, usr, sid }: z.output<typeof Claims>): SessionCreator | undefined {
  if (key !== undefined && usr === undefined) return { type: 'key', apiKeyId: key, keyVersion: ver };
  if (key !== undefined || usr === undefined || sid === undefined) return undefined;
  return { type: 'user', userId: usr, signInId: sid };
}

/** Creates the error for a session whose creator or organization no longer allows it. */
export const ended = (): ApiError =>
  new ApiError(
    401,
    'invalid_token',
    'The session has ended: the API key or the user who created it may no longer do so, or its organization was deleted.',
    challenge,
  );

const challenge = { headers: { 'WWW-Authenticate': 'Bearer' } };
const invalid = (): ApiError => new ApiError(401, 'invalid_token', 'The session token is not valid.', challenge);
const expired = (): ApiError =>
  new ApiError(401, 'token_expired', 'The session has expired. Create a new one.', challenge);
