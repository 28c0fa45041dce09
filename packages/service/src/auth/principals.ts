import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.js';
import { ApiError } from '../api-error.js';
import type { Vault } from '../secrets/vault.js';
import type { ApiKey, Organization, Store } from '../store/store.js';
import type { Permission } from '../permissions.js';
import { isLive } from './api-key.js';
import { permissionsOf } from './key-permissions.js';
import { createTtlCache } from './ttl-cache.js';
import type { Principal } from './principal.js';
import { ended, type SessionTokens } from './session-tokens.js';

/**
 * Cache TTL of database lookups, in milliseconds. Where cached lookups are accepted, a revocation
 * takes effect on every replica within twice this time.
 */
const CACHE_TTL_MS = 400;
/** Maximum length of an API key, in characters. */
const MAX_KEY = 200;

export interface Principals {
  /**
   * Authenticates an API key.
   * @param cached whether its row and its role may be up to `CACHE_TTL_MS` out of date
   * @throws ApiError 401
   */
  fromApiKey(text: string, cached: boolean): Promise<Principal>;
  /**
   * Authenticates a session.
   * @param cached as for `fromApiKey`
   * @throws ApiError 401, also if the session's API key or organization no longer exists
   */
  fromSession(token: string, cached: boolean): Promise<Principal>;
  /**
   * Returns whether a principal's API key is still valid and has not lost a permission. For
   * responses that outlive the request's own check, such as streams.
   */
  lasts(principal: Principal): Promise<boolean>;
  /** Returns any organization, at most `CACHE_TTL_MS` out of date. */
  organization(id: string): Promise<Organization | undefined>;
  /**
   * Clears the caches. Call it after a change of a key, a role or an organization, so that this
   * replica applies the change immediately.
   */
  forget(): void;
}

/** A key with its permissions, expanded once for all requests that use the cached entry. */
interface KnownKey {
  key: ApiKey;
  permissions: ReadonlySet<Permission>;
}

const known = (key: ApiKey): KnownKey => ({ key, permissions: permissionsOf(key) });

export function createPrincipals(store: Store, vault: Vault, sessions: SessionTokens, clock: Clock): Principals {
  const byText = createTtlCache<KnownKey>(CACHE_TTL_MS, clock);
  const keys = createTtlCache<KnownKey>(CACHE_TTL_MS, clock);
  const organizations = createTtlCache<Organization>(CACHE_TTL_MS, clock);
  const organization = (id: string) => organizations.get(id, () => store.organizations.get(id));

  async function lookUp(text: string): Promise<KnownKey | undefined> {
    const digest = vault.digest('api-key', text);
    const key = await store.apiKeys.byDigest(digest);
    return key && timingSafeEqual(key.digest, digest) ? known(key) : undefined;
  }

  /** Returns a key that is valid now and was not regenerated since `tokenVersion`. */
  async function current(id: string, tokenVersion: number, cached: boolean): Promise<KnownKey | undefined> {
    const load = async () => {
      const key = await store.apiKeys.get(id);
      return key && known(key);
    };
    const found = await keys.get(id, load, cached);
    return found?.key.tokenVersion === tokenVersion && isLive(found.key, clock.now()) ? found : undefined;
  }

  return {
    organization,

    forget() {
      for (const cache of [byText, keys, organizations]) cache.forget();
    },

    async lasts(principal) {
      const { id, tokenVersion } = principal.key;
      const now = await current(id, tokenVersion, true);
      if (!now || principal.type === 'session') return now !== undefined;
      return [...principal.permissions].every((permission) => now.permissions.has(permission));
    },

    async fromApiKey(text, cached) {
      const found = text.length > MAX_KEY ? undefined : await byText.get(text, () => lookUp(text), cached);
      if (!found || !isLive(found.key, clock.now())) {
        throw unauthenticated('The API key is not valid: unknown, revoked, regenerated or expired.');
      }
      return { type: 'key', ...found };
    },

    async fromSession(token, cached) {
      const session = await sessions.verify(token);
      const [found, home] = await Promise.all([
        current(session.apiKeyId, session.keyVersion, cached),
        organization(session.organizationId),
      ]);
      // A key that may no longer create sessions must not act through the ones that it created.
      if (!found?.permissions.has('session:create') || !home) throw ended();
      return { type: 'session', session, key: found.key };
    },
  };
}

/** Creates the error for a missing or unknown credential. */
export const unauthenticated = (message: string): ApiError =>
  new ApiError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'ApiKey, Bearer' } });
