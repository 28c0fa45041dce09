import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.js';
import { ApiError } from '../http/api-error.js';
import type { Vault } from '../secrets/vault.js';
import type { ApiKey, Organization, Store } from '../store/store.js';
import { isLive } from './api-key.js';
import { createBriefCache } from './brief-cache.js';
import type { Principal } from './principal.js';
import { ended, type SessionTokens } from './session-tokens.js';

/** Milliseconds for which an answer of the database is believed; a revocation holds everywhere within twice that. */
const BELIEF_MS = 400;
/** Characters; no key is longer. */
const MAX_KEY = 200;

export interface Principals {
  /** @throws ApiError 401 */
  fromApiKey(text: string): Promise<Principal>;
  /** @throws ApiError 401, also when the key that minted the session, or its organization, is gone */
  fromSession(token: string): Promise<Principal>;
  /** Whether the key behind somebody who came in is still good, for what goes on longer than a request. */
  lasts(principal: Principal): Promise<boolean>;
  /** Any organization, as it was at most `BELIEF_MS` ago. */
  organization(id: string): Promise<Organization | undefined>;
  /** To be called after a change of a key or an organization, so that this replica sees it at once. */
  forget(): void;
}

export function createPrincipals(store: Store, vault: Vault, sessions: SessionTokens, clock: Clock): Principals {
  const byText = createBriefCache<ApiKey>(BELIEF_MS, clock);
  const keys = createBriefCache<ApiKey>(BELIEF_MS, clock);
  const organizations = createBriefCache<Organization>(BELIEF_MS, clock);
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

/** No credential, or none that is known. */
export const unauthenticated = (message: string): ApiError =>
  new ApiError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'ApiKey, Bearer' } });
