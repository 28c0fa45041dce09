import type { Failure } from '../connector-api/connector-error.js';
import type { RetryLimits } from '../connector-api/output.js';

export interface RetryPolicyOptions extends RetryLimits {
  /** Maximum milliseconds between two attempts after a permanent failure. */
  permanentMaxMs: number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

/**
 * Returns the milliseconds to wait before the next attempt.
 * @param attempt number of failed attempts, from 1
 * @param limits limits of an output whose vendor recommends others
 */
export type RetryDelay = (
  failure: Pick<Failure, 'kind' | 'afterMs'>,
  attempt: number,
  limits?: Partial<RetryLimits>,
) => number;

/** Limits for inputs, and for outputs that have none of their own. */
export const RETRY_LIMITS: RetryLimits = { firstMs: 300, maxMs: 30_000 };

/**
 * Maximum milliseconds between two attempts after a permanent failure. Repeated logins with a
 * refused password lock accounts: common policies lock after 5 to 10 failures within 15 minutes.
 */
export const PERMANENT_MAX_MS = 900_000;

/** A server may ask for a longer delay than this; the next attempt is then made earlier. */
const MAX_REQUESTED_MS = 3_600_000;

/**
 * Creates the retry policy of a pipeline.
 *
 * - A delay that the server asked for is honored, plus jitter.
 * - A permanent failure is retried because its cause may be fixed on the remote side: first after
 *   the maximum interval of other failures, then with exponential backoff up to `permanentMaxMs`,
 *   less up to half of it as jitter.
 * - Anything else is retried with exponential backoff and full jitter, uniform between zero and the
 *   limit, so that many clients do not retry at the same time.
 *
 * Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function createRetryPolicy({ random, permanentMaxMs, ...defaults }: RetryPolicyOptions): RetryDelay {
  return ({ kind, afterMs }, attempt, limits) => {
    const { firstMs, maxMs } = { ...defaults, ...limits };
    const growth = 2 ** Math.min(attempt - 1, 30);
    const asked = afterMs === undefined ? undefined : Math.min(Math.max(afterMs, 0), MAX_REQUESTED_MS);
    if (kind === 'permanent') {
      const cap = Math.max(permanentMaxMs, maxMs);
      return Math.max(asked ?? 0, (Math.min(cap, maxMs * growth) / 2) * (1 + random()));
    }
    if (asked !== undefined) return asked + random() * firstMs;
    return random() * Math.min(maxMs, firstMs * growth);
  };
}
