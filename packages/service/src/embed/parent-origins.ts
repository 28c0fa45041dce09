import { createBriefCache } from '../auth/brief-cache.js';
import type { Clock } from '../clock.js';
import type { Organization, Store } from '../store/store.js';

/** Milliseconds for which a look-up is believed. */
const BELIEF_MS = 900;

/** Which pages may hold the frame: those the operator allows for all, and those that organizations allow. */
export interface ParentOrigins {
  /** Whether some organization's page of this origin may hold the frame. */
  isAllowed(origin: string): Promise<boolean>;
  /** Origins that the sessions of an organization may name: the operator's, its own and its parent's. */
  of(organization: Organization, parent: Organization | undefined): string[];
  /** To be called after a change of an organization's origins, so that this replica sees it at once. */
  forget(): void;
}

/** @param forAll `ALLOWED_PARENT_ORIGINS` */
export function createParentOrigins(forAll: readonly string[], store: Store, clock: Clock): ParentOrigins {
  const cache = createBriefCache<boolean>(BELIEF_MS, clock);
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
