import type { Suspension } from '@connector-frame/engine';
import type { Logger } from 'pino';
import type { Quota } from '../store/quotas.js';
import type { AccountSuspension, UsageLimit, UsageLimits } from '../store/usage-limits.js';
import { dayOf, periodOf } from './periods.js';
import type { UsageMeter } from './usage-meter.js';

export interface QuotaKeeperOptions {
  limits: UsageLimits;
  meter: Pick<UsageMeter, 'used' | 'watch' | 'allow'>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Called when `suspensionOf` returns something else for an organization. */
  changed: (organizationId: string) => void;
  /** Called once in each period in which a quota is used up that only tells it. */
  warn: (organizationId: string, message: string) => void;
  log: Logger;
}

/** Milliseconds between reads of the sums by day, which other engines may have changed. */
const WATCH_AGAIN = 60_000;

/**
 * Decides which organizations are suspended: those with a quota that is used up, until the period
 * ends, and those of an account that is suspended.
 */
export class QuotaKeeper {
  readonly #options: QuotaKeeperOptions;
  #limits: readonly UsageLimit[] = [];
  #accounts: readonly AccountSuspension[] = [];
  #suspensions: ReadonlyMap<string, Suspension> = new Map();
  #watched = '';
  #watchedAt = 0;
  /** Quotas that were used up at the last check, each with the start of its period. */
  #usedUp: ReadonlySet<string> = new Set();

  constructor(options: QuotaKeeperOptions) {
    this.#options = options;
  }

  /** Returns why the pipelines of an organization are suspended. */
  suspensionOf(organizationId: string): Suspension | undefined {
    return this.#suspensions.get(organizationId);
  }

  /**
   * Reads the limits, then checks them.
   * @throws errors of the database; the limits that were read before stay in effect
   */
  async load(): Promise<void> {
    const { limits, meter, now } = this.#options;
    const [read, accounts] = [await limits.limits(), await limits.suspensions()];
    const ids = [...new Set(read.flatMap(({ organizationIds }) => organizationIds))];
    const time = now();
    // The month before as well: the clock may be set back over its end.
    const from = dayOf(periodOf('month', periodOf('month', time).start - 1).start);
    const watched = `${from} ${ids.toSorted().join()}`;
    if (watched !== this.#watched || Math.abs(time - this.#watchedAt) >= WATCH_AGAIN) {
      await meter.watch(ids, from);
      this.#watched = watched;
      this.#watchedAt = time;
    }
    this.#limits = read;
    this.#accounts = accounts;
    this.check();
  }

  /** Compares the usage with the limits. */
  check(): void {
    const time = this.#options.now();
    const suspensions = new Map<string, Suspension>();
    const allowances = new Map<string, { ingress: number; egress: number }>();
    const usedUp = new Set<string>();
    for (const limit of this.#limits) this.#checkLimit(limit, time, { suspensions, allowances, usedUp });
    for (const { suspendOn, organizationIds } of this.#accounts)
      if (suspendOn.getTime() <= time) for (const id of organizationIds) suspensions.set(id, ACCOUNT_SUSPENDED);
    this.#options.meter.allow(allowances);
    this.#usedUp = usedUp;
    this.#apply(suspensions);
  }

  #checkLimit(
    { quota, organizationIds }: UsageLimit,
    time: number,
    found: {
      suspensions: Map<string, Suspension>;
      allowances: Map<string, { ingress: number; egress: number }>;
      usedUp: Set<string>;
    },
  ): void {
    const { start, end } = periodOf(quota.timeframe, time);
    const direction = directionOf(quota);
    const { meter } = this.#options;
    const used = organizationIds.reduce((sum, id) => sum + meter.used(id, direction, dayOf(start), dayOf(time)), 0);
    const left = quota.limitAmount - used;
    if (left <= 0) {
      const key = `${quota.id} ${start}`;
      found.usedUp.add(key);
      if (!this.#usedUp.has(key)) this.#tell(quota, organizationIds, end);
    }
    for (const id of organizationIds) {
      if (left > 0) {
        const allowance = found.allowances.get(id) ?? { ingress: Infinity, egress: Infinity };
        found.allowances.set(id, allowance);
        allowance[direction] = Math.min(allowance[direction], left);
      } else if (quota.action === 'DISABLE') {
        const known = found.suspensions.get(id)?.until ?? 0;
        // The quota that ends last determines when the pipelines continue.
        if (end > known) found.suspensions.set(id, { code: 'quota', message: messageOf(quota, end), until: end });
      }
    }
  }

  #tell(quota: Quota, organizationIds: readonly string[], end: number): void {
    const { id: quota_id, action, organizationId, billingAccountId } = quota;
    const about =
      organizationId === null ? { billing_account_id: billingAccountId } : { organization_id: organizationId };
    this.#options.log.warn({ quota_id, action, ...about }, 'quota used up');
    if (action === 'NONE') for (const id of organizationIds) this.#options.warn(id, messageOf(quota, end));
  }

  #apply(suspensions: ReadonlyMap<string, Suspension>): void {
    const before = this.#suspensions;
    // First, because a pipeline that is created meanwhile asks for it.
    this.#suspensions = suspensions;
    for (const [id, suspension] of suspensions)
      if (before.get(id)?.message !== suspension.message) this.#options.changed(id);
    for (const id of before.keys()) if (!suspensions.has(id)) this.#options.changed(id);
  }
}

const ACCOUNT_SUSPENDED: Suspension = {
  code: 'account_suspended',
  message: 'The billing account of the organization is suspended.',
};

export const directionOf = ({ limitType }: Pick<Quota, 'limitType'>): 'ingress' | 'egress' =>
  limitType === 'ingress_bytes' ? 'ingress' : 'egress';

/** An organization learns nothing about the others in its account. */
function messageOf(quota: Quota, end: number): string {
  const { limitAmount, timeframe, action } = quota;
  const limit =
    quota.organizationId === null
      ? 'A quota of the billing account of the organization is used up'
      : `The quota of ${limitAmount} ${directionOf(quota)} bytes a ${timeframe} is used up`;
  const time = new Date(end).toISOString();
  return action === 'DISABLE'
    ? `${limit}. The pipeline continues at ${time}.`
    : `${limit}. It starts again at ${time}.`;
}
