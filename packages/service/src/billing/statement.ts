import type { BillingAccount, BillingMember } from '../store/billing-accounts.js';
import type { BillingProduct } from '../store/billing-products.js';
import type { ReadTables } from '../store/store.js';
import { minuteOf, type Period } from '../usage/periods.js';
import { cycleOf, stateAt, withProducts } from './subscriptions.js';

/** What one organization used in a billing cycle, while it was in the account. */
export interface MemberUsage {
  organizationId: string;
  /** Absent if the organization was deleted. */
  organizationName: string | undefined;
  ingress: { bytes: number; records: number };
  egress: { bytes: number; records: number };
}

/** An item of a statement. Amounts are whole cents. */
export interface StatementLine {
  kind: 'recurring' | 'usage';
  /** `month` or `year`, or a unit of usage. */
  unit: string;
  /** How much was used: bytes or records, or 1. */
  quantity: number;
  /** Bytes or records that cost `unitCostCents`. */
  unitSize: number;
  unitCostCents: number;
  amountCents: number;
}

export interface Statement {
  product: BillingProduct;
  cycle: Period;
  /** Whether all usage of the cycle is in it. */
  isFinal: boolean;
  lines: StatementLine[];
  totalCents: number;
  usage: MemberUsage[];
}

type Unit = NonNullable<BillingProduct['usageUnit']>;
type StatementTables = Pick<
  ReadTables,
  'billingMembers' | 'billingProducts' | 'billingSubscriptions' | 'organizations' | 'usage'
>;

/** What a unit of usage counts. A gigabyte has 10^9 bytes. */
const units = {
  egress_gb: { size: 1_000_000_000, of: ({ egress }) => egress.bytes },
  egress_million_records: { size: 1_000_000, of: ({ egress }) => egress.records },
  ingress_gb: { size: 1_000_000_000, of: ({ ingress }) => ingress.bytes },
  ingress_million_records: { size: 1_000_000, of: ({ ingress }) => ingress.records },
} as const satisfies Record<Unit, { size: number; of: (usage: MemberUsage) => number }>;

/**
 * Computes the statement of the billing cycle that contains `time`: the recurring cost in full, and the
 * usage of all organizations while they were in the account. Returns `undefined` if the account had no
 * product then.
 * @param time milliseconds since the epoch
 */
export async function statementOf(
  tables: StatementTables,
  account: Pick<BillingAccount, 'id'>,
  time: number,
): Promise<Statement | undefined> {
  const subscriptions = await withProducts(tables, await tables.billingSubscriptions.ofAccounts([account.id]));
  const { current } = stateAt(subscriptions, time);
  if (!current) return undefined;
  const { product } = current;
  const cycle = cycleOf(current, time);
  const usage = await usageOf(tables, await tables.billingMembers.ofAccount(account.id), cycle);
  const lines = linesOf(product, usage);
  const writtenAt = await tables.usage.writtenAt();
  return {
    product,
    cycle,
    isFinal: writtenAt !== undefined && writtenAt.getTime() >= cycle.end,
    lines,
    totalCents: lines.reduce((sum, { amountCents }) => sum + amountCents, 0),
    usage,
  };
}

/** Returns the cost of a quantity in whole cents, rounded half up. */
export function costInCents(quantity: number, unitSize: number, unitCostCents: number): number {
  const size = BigInt(unitSize);
  return Number((BigInt(quantity) * BigInt(unitCostCents) + size / 2n) / size);
}

function linesOf(product: BillingProduct, usage: readonly MemberUsage[]): StatementLine[] {
  const { recurringCostCents, recurringFrequency, usageUnit, usageUnitCostCents } = product;
  const lines: StatementLine[] = [
    {
      kind: 'recurring',
      unit: recurringFrequency,
      quantity: 1,
      unitSize: 1,
      unitCostCents: recurringCostCents,
      amountCents: recurringCostCents,
    },
  ];
  if (usageUnit === null) return lines;
  const { size: unitSize, of } = units[usageUnit];
  const quantity = usage.reduce((sum, each) => sum + of(each), 0);
  const amountCents = costInCents(quantity, unitSize, usageUnitCostCents);
  lines.push({ kind: 'usage', unit: usageUnit, quantity, unitSize, unitCostCents: usageUnitCostCents, amountCents });
  return lines;
}

async function usageOf(
  { usage, organizations }: StatementTables,
  members: readonly BillingMember[],
  cycle: Period,
): Promise<MemberUsage[]> {
  const found = new Map<string, MemberUsage>();
  const names = await organizations.names(members.map(({ organizationId }) => organizationId));
  for (const [range, organizationIds] of byRange(members, cycle)) {
    const [from = 0, to = 0] = range.split(' ').map(Number);
    for (const sum of await usage.sum({ organizationIds, from, to }, ['organizationId'])) {
      const { organizationId } = sum;
      const before = found.get(organizationId) ?? {
        organizationId,
        organizationName: names.get(organizationId),
        ingress: { bytes: 0, records: 0 },
        egress: { bytes: 0, records: 0 },
      };
      found.set(organizationId, before);
      before.ingress.bytes += sum.ingressBytes;
      before.ingress.records += sum.ingressRecords;
      before.egress.bytes += sum.egressBytes;
      before.egress.records += sum.egressRecords;
    }
  }
  return [...found.values()].toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
}

/** Groups memberships by the part of the cycle that they cover, as `<from> <to>` in minutes. */
function byRange(members: readonly BillingMember[], cycle: Period): Map<string, string[]> {
  const ranges = new Map<string, string[]>();
  for (const { organizationId, startsAt, endsAt } of members) {
    const from = Math.max(cycle.start, startsAt.getTime());
    const to = Math.min(cycle.end, endsAt?.getTime() ?? Infinity);
    if (from >= to) continue;
    const range = `${minuteOf(from)} ${minuteOf(to)}`;
    ranges.set(range, [...(ranges.get(range) ?? []), organizationId]);
  }
  return ranges;
}
