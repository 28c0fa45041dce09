import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.js';
import { ApiError } from '../api-error.js';
import type { Vault } from '../secrets/vault.js';
import type { ApiKey, Organization, Store } from '../store/store.js';
import { isLive } from './api-key.js';
import { createTtlCache } from './ttl-cache.js';
import type { Principal } from './principal.js';
import { ended, type SessionTokens } from './session-tokens.js';

/**
 * Cache TTL of database lookups, in milliseconds. A revocation takes effect on every replica within
 * twice this time.
 */
const CACHE_TTL_MS = 400;
/** Maximum length of an API key, in characters. */
const MAX_KEY = 200;

export interface Principals {
  /**
   * Authenticates an API key.
   * @throws ApiError 401
   */
  fromApiKey(text: string): Promise<Principal>;
  /**
   * Authenticates a session.
   * @throws ApiError 401, also if the session's API key or organization no longer exists
   */
  fromSession(token: string): Promise<Principal>;
  /**
   * Returns whether a principal's API key is still valid. For responses that outlive the request's
   * own check, such as streams.
   */
  lasts(principal: Principal): Promise<boolean>;
  /** Returns any organization, at most `CACHE_TTL_MS` out of date. */
  organization(id: string): Promise<Organization | undefined>;
  /**
   * Clears the caches. Call it after a change of a key or an organization, so that this replica
   * applies the change immediately.
   */
  forget(): void;
}

export function createPrincipals(store: Store, vault: Vault, sessions: SessionTokens, clock: Clock): Principals {
  const byText = createTtlCache<ApiKey>(CACHE_TTL_MS, clock);
  const keys = createTtlCache<ApiKey>(CACHE_TTL_MS, clock);
  const organizations = createTtlCache<Organization>(CACHE_TTL_MS, clock);
  const organization = (id: string) => organizations.get(id, () => store.organizations.get(id));

  async function lookUp(text: string): Promise<ApiKey | undefined> {
    const digest = vault.digest('api-key', text);
    const key = await store.apiKeys.byDigest(digest);
    return key && timingSafeEqual(key.digest, digest) ? key : undefined;
  }

  return {
    organization,

    forget() {
      for (const cache of [byText, keys, organizations]) cache.forget();
    },

    async lasts({ key: { id } }) {
      const key = await keys.get(id, () => store.apiKeys.get(id));
      return key !== undefined && isLive(key, clock.now());
    },

    async fromApiKey(text) {
      const key = text.length > MAX_KEY ? undefined : await byText.get(text, () => lookUp(text));
      if (!key || !isLive(key, clock.now())) {
        throw unauthenticated('The API key is not valid: unknown, revoked or expired.');
      }
      return { type: 'key', key };
    },

    async fromSession(token) {
      const session = await sessions.verify(token);
      const [key, home] = await Promise.all([
        keys.get(session.apiKeyId, () => store.apiKeys.get(session.apiKeyId)),
        organization(session.organizationId),
      ]);
      if (!key || !home || !isLive(key, clock.now())) {
        throw ended();
      }
      return { type: 'session', session, key };
    },
  };
}

/** Creates the error for a missing or unknown credential. */
export const unauthenticated = (message: string): ApiError =>
  new ApiError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'ApiKey, Bearer' } });
