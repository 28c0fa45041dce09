const firstDelay = 300;
const longestDelay = 8_000;

/** Maximum number of attempts, including the first. */
export const maxTries = 4;

/** Milliseconds from the first attempt until giving up, including delays. */
export const totalBudget = 30_000;

/**
 * Returns the delay in milliseconds before attempt `tries + 1`: `Retry-After` (seconds or an HTTP
 * date) if present, otherwise exponential backoff with full jitter, which spreads out clients that
 * failed at the same time.
 */
export function retryDelay(tries: number, retryAfter: string | null): number {
  return parseRetryAfter(retryAfter) ?? Math.random() * Math.min(longestDelay, firstDelay * 2 ** (tries - 1));
}

function parseRetryAfter(value: string | null): number | undefined {
  if (!value) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export async function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
  signal?.throwIfAborted();
}
