import { z } from 'zod';
import { ApiError } from '../api-error.js';
import type { Clock } from '../clock.js';
import { createSignedTokens, type TokenKind } from './signed-tokens.js';

/** Lifetime of an access token, in seconds. Each request also reads the sign-in, which can end before. */
export const ACCESS_TTL = 600;
/** Maximum lifetime of a sign-in, and so of its refresh tokens, in seconds. */
export const MAX_SIGN_IN_TTL = 30 * 86_400;

const ACCESS: TokenKind = { type: 'user-access+jwt', audience: 'connector-frame/api', maxTtl: ACCESS_TTL };
const REFRESH: TokenKind = {
  type: 'user-refresh+jwt',
  audience: 'connector-frame/refresh',
  maxTtl: MAX_SIGN_IN_TTL,
};

const AccessClaims = z.object({ sid: z.string(), sub: z.string() });
const RefreshClaims = z.object({ sid: z.string(), gen: z.int() });

/** The sign-in that a token belongs to. */
export interface SignInReference {
  id: string;
  userId: string;
}

/** Tokens of signed-in users. They contain no role and no permission. */
export interface UserTokens {
  /** @param ttl seconds, at most `ACCESS_TTL` */
  access(signIn: SignInReference, ttl: number): Promise<{ token: string; expiresAt: Date }>;
  /** @throws ApiError 401 `invalid_token` or `token_expired` */
  verifyAccess(token: string): Promise<SignInReference>;
  /** @param ttl seconds */
  refresh(signIn: { id: string; generation: number }, ttl: number): Promise<string>;
  /** @throws ApiError 401 `invalid_token` or `token_expired` */
  verifyRefresh(token: string): Promise<{ id: string; generation: number }>;
}

/**
 * Creates the tokens of users.
 * @param keys see `createSignedTokens`; access and refresh tokens also differ in type and audience
 */
export function createUserTokens(keys: readonly [Uint8Array, ...Uint8Array[]], clock: Clock): UserTokens {
  const accessTokens = createSignedTokens(ACCESS, keys, clock);
  const refreshTokens = createSignedTokens(REFRESH, keys, clock);
  return {
    access: ({ id, userId }, ttl) => accessTokens.sign({ sid: id, sub: userId }, Math.min(ttl, ACCESS_TTL)),

    async verifyAccess(token) {
      const payload = await accessTokens.verify(token);
      if (payload === 'expired') throw expired('The access token has expired. Refresh it, or sign in again.');
      const { data } = AccessClaims.safeParse(payload);
      if (!data) throw invalid('The access token is not valid.');
      return { id: data.sid, userId: data.sub };
    },

    async refresh({ id, generation }, ttl) {
      const { token } = await refreshTokens.sign({ sid: id, gen: generation }, Math.min(ttl, MAX_SIGN_IN_TTL));
      return token;
    },

    async verifyRefresh(token) {
      const payload = await refreshTokens.verify(token);
      if (payload === 'expired') throw expired('The sign-in has expired. Sign in again.');
      const { data } = RefreshClaims.safeParse(payload);
      if (!data) throw invalid('The refresh token is not valid.');
      return { id: data.sid, generation: data.gen };
    },
  };
}

/** Returns whether a bearer token claims to be an access token of a user. It may still be forged. */
export function isAccessToken(token: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString());
    return typeof header === 'object' && header !== null && 'typ' in header && header.typ === ACCESS.type;
  } catch {
    return false;
  }
}

/** Creates the error for a sign-in that was ended, or whose user no longer exists. */
export const signedOut = (): ApiError => invalid('The sign-in has ended. Sign in again.');

const challenge = { headers: { 'WWW-Authenticate': 'Bearer' } };
const invalid = (message: string): ApiError => new ApiError(401, 'invalid_token', message, challenge);
const expired = (message: string): ApiError => new ApiError(401, 'token_expired', message, challenge);
