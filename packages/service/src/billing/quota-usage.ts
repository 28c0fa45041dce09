import type { BillingMember } from '../store/billing-accounts.js';
import type { Quota } from '../store/quotas.js';
import type { ReadTables } from '../store/store.js';
import { dayOf, periodOf, type Period } from '../usage/periods.js';

/** A quota with what was used of it in its present period. */
export interface QuotaUsage {
  quota: Quota;
  period: Period;
  /** Bytes. */
  used: number;
}

type QuotaTables = Pick<ReadTables, 'billingMembers' | 'usage'>;

/** Returns what was used of quotas, as far as it is stored. */
export async function usageOf(tables: QuotaTables, quotas: readonly Quota[], now: number): Promise<QuotaUsage[]> {
  const members = new Map<string, string[]>();
  for (const { id, organizationId, billingAccountId } of quotas)
    members.set(id, organizationId === null ? await membersOf(tables, billingAccountId) : [organizationId]);
  const first = dayOf(periodOf('month', now).start);
  const days = await tables.usage.days([...new Set([...members.values()].flat())], first);
  return quotas.map((quota) => {
    const period = periodOf(quota.timeframe, now);
    const ids = new Set(members.get(quota.id));
    const key = quota.limitType === 'ingress_bytes' ? 'ingressBytes' : 'egressBytes';
    const used = days
      .filter(({ organizationId, day }) => ids.has(organizationId) && day >= dayOf(period.start) && day <= dayOf(now))
      .reduce((sum, each) => sum + each[key], 0);
    return { quota, period, used };
  });
}

const isMember = ({ endsAt }: BillingMember): boolean => endsAt === null;

async function membersOf({ billingMembers }: QuotaTables, accountId: string | null): Promise<string[]> {
  if (accountId === null) return [];
  return (await billingMembers.ofAccount(accountId)).filter(isMember).map(({ organizationId }) => organizationId);
}
