import type pg from 'pg';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import { ApiError } from '../api-error.js';

/** Allows `points` requests in `seconds`. */
export interface RateLimit {
  points: number;
  seconds: number;
}

/**
 * Scopes of rate limits. Requests without a valid credential are counted by client address, all
 * others by API key, user or session, and by organization. Connection tests are also counted by
 * session (`test`), API key or user, connector type and organization. Attempts to sign in are counted by
 * account (`sign_in`) and client address, invitations by organization.
 */
export const rateLimitScopes = [
  'address',
  'key',
  'user',
  'organization',
  'session',
  'test',
  'test_key',
  'test_type',
  'test_organization',
  'sign_in',
  'sign_in_address',
  'invite',
] as const;
export type RateLimitScope = (typeof rateLimitScopes)[number];

/** A limit per scope. Null disables the limit. */
export type RateLimitSettings = Record<RateLimitScope, RateLimit | null>;

export const defaultRateLimits: RateLimitSettings = {
  address: { points: 300, seconds: 60 },
  key: { points: 1_200, seconds: 60 },
  user: { points: 1_200, seconds: 60 },
  organization: { points: 3_000, seconds: 60 },
  session: { points: 240, seconds: 60 },
  test: { points: 5, seconds: 60 },
  test_key: { points: 60, seconds: 60 },
  test_type: { points: 15, seconds: 60 },
  test_organization: { points: 30, seconds: 60 },
  sign_in: { points: 10, seconds: 900 },
  sign_in_address: { points: 60, seconds: 900 },
  invite: { points: 60, seconds: 3_600 },
};

export interface RateLimits {
  /**
   * Counts one request against each of the given subjects.
   * @returns the `RateLimit` headers of the limit that is closest to being exceeded
   * @throws ApiError 429 with `Retry-After`
   */
  consume(subjects: Partial<Record<RateLimitScope, string>>): Promise<Record<string, string>>;
  /** Forgets what was counted against a subject. */
  reset(scope: RateLimitScope, subject: string): Promise<void>;
}

interface Allowance {
  scope: RateLimitScope;
  limit: RateLimit;
  remaining: number;
  /** Seconds until the window resets. */
  reset: number;
  exceeded: boolean;
}

/**
 * Creates the rate limits. With a pool, PostgreSQL stores the counts, shared by all replicas.
 * Client addresses are always counted by each replica in memory, so that a flood of unauthenticated
 * requests does not become a flood of writes. If the database fails, each replica counts in memory.
 */
export function createRateLimits(settings: RateLimitSettings, pool?: pg.Pool): RateLimits {
  const limiters = new Map<RateLimitScope, { limit: RateLimit; limiter: RateLimiterAbstract }>();
  for (const scope of rateLimitScopes) {
    const limit = settings[scope];
    if (limit)
      limiters.set(scope, { limit, limiter: createLimiter(scope, limit, scope === 'address' ? undefined : pool) });
  }

  return {
    async consume(subjects) {
      const allowances: Promise<Allowance>[] = [];
      for (const [scope, { limit, limiter }] of limiters) {
        const subject = subjects[scope];
        if (subject !== undefined) allowances.push(consumeFrom(scope, limit, limiter, subject));
      }
      if (allowances.length === 0) return {};
      const [first, ...others] = await Promise.all(allowances);
      if (!first) return {};
      const tightest = others.reduce((a, b) => (isTighter(b, a) ? b : a), first);
      const headers = describe(tightest);
      if (tightest.exceeded) {
        const retry = { ...headers, 'Retry-After': String(tightest.reset) };
        const message = `Too many requests. Retry in ${tightest.reset} ${tightest.reset === 1 ? 'second' : 'seconds'}.`;
        throw new ApiError(429, 'rate_limited', message, { headers: retry, details: { limit: tightest.scope } });
      }
      return headers;
    },

    async reset(scope, subject) {
      await limiters.get(scope)?.limiter.delete(subject);
    },
  };
}

function createLimiter(scope: RateLimitScope, { points, seconds }: RateLimit, pool?: pg.Pool): RateLimiterAbstract {
  const options = { points, duration: seconds, keyPrefix: scope };
  const memory = new RateLimiterMemory(options);
  if (!pool) return memory;
  return new RateLimiterPostgres({
    ...options,
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    insuranceLimiter: memory,
    // A subject over its limit causes no further writes until the window resets.
    inMemoryBlockOnConsumed: points + 1,
  });
}

async function consumeFrom(
  scope: RateLimitScope,
  limit: RateLimit,
  limiter: RateLimiterAbstract,
  subject: string,
): Promise<Allowance> {
  let exceeded = false;
  const result = await limiter.consume(subject).catch((rejection: unknown) => {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    // `consumedPoints` is not reliable here: it is 0 if the limiter rejects a subject that it has
    // blocked in memory.
    exceeded = true;
    return rejection;
  });
  return {
    scope,
    limit,
    remaining: result.remainingPoints,
    reset: Math.max(1, Math.ceil(result.msBeforeNext / 1_000)),
    exceeded,
  };
}

const isTighter = (a: Allowance, b: Allowance): boolean =>
  a.exceeded === b.exceeded ? a.remaining / a.limit.points < b.remaining / b.limit.points : a.exceeded;

/**
 * Quota, window, remaining requests, and seconds until the window resets.
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
function describe({ scope, limit, remaining, reset }: Allowance): Record<string, string> {
  return {
    'RateLimit-Policy': `"${scope}";q=${limit.points};w=${limit.seconds}`,
    RateLimit: `"${scope}";r=${remaining};t=${reset}`,
  };
}
