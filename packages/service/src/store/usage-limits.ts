import { and, eq, isNotNull, isNull, or } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Quota } from './quotas.js';
import { billingAccounts as accounts, billingMembers as members, quotas } from './tables.js';

/** A quota, and the organizations whose usage counts. */
export interface UsageLimit {
  quota: Quota;
  organizationIds: string[];
}

/** An account whose organizations are suspended from a time on. */
export interface AccountSuspension {
  suspendOn: Date;
  organizationIds: string[];
}

/** Limits of all organizations, for the engine. Never use them to respond to clients. */
export interface UsageLimits {
  limits(): Promise<UsageLimit[]>;
  suspensions(): Promise<AccountSuspension[]>;
}

/** Memberships that have not ended. */
const isMember = and(eq(members.billingAccountId, accounts.id), isNull(members.endsAt));

export function createUsageLimits(queries: Queries): UsageLimits {
  return {
    async limits() {
      const rows = await queries
        .select({ quota: quotas, member: members.organizationId })
        .from(quotas)
        .leftJoin(accounts, and(eq(accounts.id, quotas.billingAccountId), isNull(accounts.deletedAt)))
        .leftJoin(members, isMember)
        .where(or(isNotNull(quotas.organizationId), isNotNull(members.organizationId)));
      const found = new Map<string, UsageLimit>();
      for (const { quota, member } of rows) {
        const limit = found.get(quota.id) ?? { quota, organizationIds: [] };
        found.set(quota.id, limit);
        const id = quota.organizationId ?? member;
        if (id !== null) limit.organizationIds.push(id);
      }
      return [...found.values()];
    },

    async suspensions() {
      const rows = await queries
        .select({ id: accounts.id, suspendOn: accounts.suspendOn, member: members.organizationId })
        .from(accounts)
        .innerJoin(members, isMember)
        .where(and(isNull(accounts.deletedAt), isNotNull(accounts.suspendOn)));
      const found = new Map<string, AccountSuspension>();
      for (const { id, suspendOn, member } of rows) {
        if (!suspendOn) continue;
        const suspension = found.get(id) ?? { suspendOn, organizationIds: [] };
        found.set(id, suspension);
        suspension.organizationIds.push(member);
      }
      return [...found.values()];
    },
  };
}
