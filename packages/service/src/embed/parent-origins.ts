import { createTtlCache } from '../auth/ttl-cache.js';
import type { Clock } from '../clock.js';
import type { Organization, Store } from '../store/store.js';

/** Cache TTL of an origin lookup, in milliseconds. */
const CACHE_TTL_MS = 900;

/**
 * Decides which pages may embed the frame: those that the operator allows for every organization,
 * and those that organizations allow.
 */
export interface ParentOrigins {
  /** Returns whether the operator or any organization allows pages of this origin. */
  isAllowed(origin: string): Promise<boolean>;
  /**
   * Returns the origins that sessions of an organization may name: the operator's, its own and its
   * parent's.
   */
  of(organization: Organization, parent: Organization | undefined): string[];
  /**
   * Clears the cache. Call it after a change of an organization's origins, so that this replica
   * applies the change immediately.
   */
  forget(): void;
}

/**
 * Creates the check of parent origins.
 * @param forAll origins allowed for every organization (`ALLOWED_PARENT_ORIGINS`)
 */
export function createParentOrigins(forAll: readonly string[], store: Store, clock: Clock): ParentOrigins {
  const cache = createTtlCache<boolean>(CACHE_TTL_MS, clock);
  return {
    forget: () => cache.forget(),

    async isAllowed(origin) {
      if (forAll.includes(origin)) return true;
      return (await cache.get(origin, () => store.organizations.allowsOrigin(origin))) === true;
    },
    of: (organization, parent) => [
      ...new Set([...forAll, ...organization.allowedOrigins, ...(parent?.allowedOrigins ?? [])]),
    ],
  };
}
