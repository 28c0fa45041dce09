const firstDelay = 300;
const longestDelay = 8_000;

/** Tries in all, the first one included. */
export const maxTries = 4;

/** Milliseconds from the first try until giving up, waits included. */
export const totalBudget = 30_000;

/**
 * Milliseconds to wait before try number `tries + 1`. `Retry-After` (seconds or an HTTP date) wins; otherwise
 * exponential with full jitter, so that callers who failed together do not come back together.
 */
export function retryDelay(tries: number, retryAfter: string | null): number {
  return parseRetryAfter(retryAfter) ?? Math.random() * Math.min(longestDelay, firstDelay * 2 ** (tries - 1));
}

function parseRetryAfter(value: string | null): number | undefined {
  if (!value) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Resolves after `ms`; rejects at once with the signal's reason when the caller gives up. */
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
