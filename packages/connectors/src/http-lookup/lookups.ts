import {
  ConnectorError,
  type Clock,
  type EnrichmentResult,
  type LookedUp,
} from '@connector-frame/engine/connector-api';
import { createRateLimiter } from '../_shared/output/rate-limiter.js';

/** Requests at a time. */
const CONCURRENCY = 8;
/** Milliseconds without requests after the server limited them and named no time. */
const DEFAULT_BLOCK_MS = 60_000;
const MAX_BLOCK_MS = 3_600_000;

export interface HttpLookupsOptions {
  clock: Clock;
  /** Maximum number of requests per second. */
  perSecond?: number | undefined;
  /** Result while the server limits requests. Absent: the lookup fails, so that records wait. */
  limited?: EnrichmentResult | undefined;
  /**
   * Looks up one key with one request.
   * @throws {ConnectorError}
   */
  request: (key: string, signal: AbortSignal) => Promise<EnrichmentResult>;
}

/**
 * Looks up keys with one request each, several at a time. The first failure ends it: a server that
 * does not respond costs one timeout, not one for each key.
 */
export function createHttpLookups({ clock, perSecond, limited, request }: HttpLookupsOptions) {
  const takeTurn = createRateLimiter(perSecond === undefined ? 0 : 1_000 / perSecond, clock);
  let blockedUntil = 0;

  /** Returns the result while requests are blocked. */
  function whileBlocked(): EnrichmentResult | undefined {
    const left = blockedUntil - clock.now();
    // The clock may have been set back.
    if (!limited || left <= 0 || left > MAX_BLOCK_MS) return undefined;
    return { ...limited, cacheMs: left };
  }

  return async (keys: readonly string[], signal: AbortSignal): Promise<LookedUp> => {
    const results = new Map<string, EnrichmentResult>();
    const left = keys.values();
    const ended = new AbortController();
    const own = AbortSignal.any([signal, ended.signal]);
    let failure: unknown;

    async function lookUp(key: string): Promise<void> {
      try {
        const blocked = whileBlocked();
        if (!blocked) await takeTurn(own);
        results.set(key, blocked ?? (await request(key, own)));
      } catch (error) {
        const isLimited = error instanceof ConnectorError && error.kind === 'throttled';
        if (isLimited && limited) {
          blockedUntil = clock.now() + Math.min(error.afterMs ?? DEFAULT_BLOCK_MS, MAX_BLOCK_MS);
          results.set(key, { ...limited, cacheMs: blockedUntil - clock.now() });
          return;
        }
        failure ??= error;
        ended.abort();
      }
    }
    const worker = async (): Promise<void> => {
      for (const key of left) {
        if (own.aborted) return;
        await lookUp(key);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (failure === undefined) return { results };
    if (failure instanceof ConnectorError) return { results, failure };
    throw failure;
  };
}
