import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.js';
import { ApiError } from '../api-error.js';
import type { Vault } from '../secrets/vault.js';
import type { BillingGrant } from '../store/billing-roles.js';
import type { ApiKey, Organization, Store } from '../store/store.js';
import type { Permission } from '../permissions.js';
import { isLive } from './api-key.js';
import { permissionsOf } from './key-permissions.js';
import { permissionsAnywhere } from './organization-role.js';
import { createTtlCache } from './ttl-cache.js';
import { inOrganization, type KeyPrincipal, type Principal, type UserPrincipal } from './principal.js';
import { ended, type Session, type SessionTokens } from './session-tokens.js';
import { signedOut, type UserTokens } from './user-tokens.js';

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
   * @throws ApiError 401, also if the session's creator or organization no longer exists
   */
  fromSession(token: string, cached: boolean): Promise<Principal>;
  /**
   * Authenticates a user by an access token.
   * @param cached as for `fromApiKey`
   * @throws ApiError 401, also if the sign-in has ended
   */
  fromUser(token: string, cached: boolean): Promise<Principal>;
  /**
   * Returns whether a principal's credential is still valid and has not lost a permission. For
   * responses that outlive the request's own check, such as streams.
   */
  lasts(principal: Principal): Promise<boolean>;
  /** Returns what roles of billing accounts allow a user. */
  billingGrants(principal: UserPrincipal): Promise<BillingGrant[]>;
  /** Returns the billing account that a quota limits, if it limits one. */
  accountOfQuota(id: string): Promise<string | undefined>;
  /** Returns any organization, at most `CACHE_TTL_MS` out of date. */
  organization(id: string): Promise<Organization | undefined>;
  /**
   * Clears the caches. Call it after a change of a key, a user, a role or an organization, so that
   * this replica applies the change immediately.
   */
  forget(): void;
}

/** A key with its permissions, expanded once for all requests that use the cached entry. */
interface KnownKey {
  key: ApiKey;
  permissions: ReadonlySet<Permission>;
}

const known = (key: ApiKey): KnownKey => ({ key, permissions: permissionsOf(key) });

export interface PrincipalsOptions {
  store: Store;
  vault: Vault;
  sessions: SessionTokens;
  userTokens: UserTokens;
  clock: Clock;
}

export function createPrincipals({ store, vault, sessions, userTokens, clock }: PrincipalsOptions): Principals {
  const byText = createTtlCache<KnownKey>(CACHE_TTL_MS, clock);
  const keys = createTtlCache<KnownKey>(CACHE_TTL_MS, clock);
  const users = createTtlCache<UserPrincipal>(CACHE_TTL_MS, clock);
  const organizations = createTtlCache<Organization>(CACHE_TTL_MS, clock);
  const organization = (id: string) => organizations.get(id, () => store.organizations.get(id));

  async function lookUp(text: string): Promise<KnownKey | undefined> {
    const digest = vault.digest('api-key', text);
    const key = await store.apiKeys.byDigest(digest);
    return key && timingSafeEqual(key.digest, digest) ? known(key) : undefined;
  }

  /** Returns a key that is valid now and was not regenerated since `tokenVersion`. */
  async function current(id: string, tokenVersion: number, cached: boolean): Promise<KeyPrincipal | undefined> {
    const load = async () => {
      const key = await store.apiKeys.get(id);
      return key && known(key);
    };
    const found = await keys.get(id, load, cached);
    const isCurrent = found?.key.tokenVersion === tokenVersion && isLive(found.key, clock.now());
    return isCurrent ? { type: 'key', ...found } : undefined;
  }

  /** Returns the user of a sign-in that has not ended. */
  async function signedIn(id: string, userId: string, cached: boolean): Promise<UserPrincipal | undefined> {
    const load = async (): Promise<UserPrincipal | undefined> => {
      const loaded = await store.signIns.load(id);
      return loaded && { type: 'user', ...loaded, permissions: permissionsAnywhere(loaded.memberships) };
    };
    const found = await users.get(id, load, cached);
    const isCurrent = found?.user.id === userId && found.signIn.expiresAt.getTime() > clock.now();
    return isCurrent ? found : undefined;
  }

  /** Returns a user as it is now, in the same organization. */
  async function userNow({ signIn, user, organizationId }: UserPrincipal): Promise<UserPrincipal | undefined> {
    const found = await signedIn(signIn.id, user.id, true);
    if (!found || organizationId === undefined) return found;
    const home = await organization(organizationId);
    return home && inOrganization(found, home);
  }

  /** Returns who created a session, as it is now, if that and the organization still exist. */
  async function creatorOf(
    { creator, organizationId }: Session,
    cached: boolean,
  ): Promise<KeyPrincipal | UserPrincipal | undefined> {
    const [home, found] = await Promise.all([
      organization(organizationId),
      creator.type === 'key'
        ? current(creator.apiKeyId, creator.keyVersion, cached)
        : signedIn(creator.signInId, creator.userId, cached),
    ]);
    return home && found?.type === 'user' ? inOrganization(found, home) : home && found;
  }

  return {
    organization,

    // An identity provider of one organization must not claim the address of a person of another one.
    billingGrants: async ({ user: { email, emailVerifiedAt, connectionId } }) =>
      emailVerifiedAt === null || connectionId !== null ? [] : store.billingRoleUsers.grantsOf(email),

    accountOfQuota: (id) => store.quotas.accountOf(id),

    forget() {
      for (const cache of [byText, keys, users, organizations]) cache.forget();
    },

    async lasts(principal) {
      if (principal.type === 'session') {
        return (await creatorOf(principal.session, true)) !== undefined;
      }
      const now =
        principal.type === 'key'
          ? await current(principal.key.id, principal.key.tokenVersion, true)
          : await userNow(principal);
      return now !== undefined && [...principal.permissions].every((permission) => now.permissions.has(permission));
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
      const creator = await creatorOf(session, cached);
      // A caller that may no longer create sessions must not act through the ones that it created.
      if (!creator?.permissions.has('session:create')) throw ended();
      return { type: 'session', session, creator };
    },

    async fromUser(token, cached) {
      const { id, userId } = await userTokens.verifyAccess(token);
      const user = await signedIn(id, userId, cached);
      if (!user) throw signedOut();
      return user;
    },
  };
}

/** Creates the error for a missing or unknown credential. */
export const unauthenticated = (message: string): ApiError =>
  new ApiError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'ApiKey, Bearer' } });
