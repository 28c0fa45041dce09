/**
 * The only layer that retries calls. Every call that it retries is safe to repeat: reads, and
 * writes with an idempotency key.
 */

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 8_000;
const TRIES = 4;
const ALL_MS = 30_000;
/** Default timeout of one attempt; a call can set a longer one. */
const TRY_MS = 12_000;

const RETRYABLE_STATUSES: readonly number[] = [429, 502, 503, 504];

export interface RetryTools {
  /** Current time in milliseconds. */
  now: () => number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  sleep: (ms: number) => Promise<void>;
  /** False only when the browser knows that there is no network. */
  online: () => boolean;
}

/** Thrown when there was no response: no network, or nothing responded in time. */
export class NoResponse extends Error {
  /** Whether the browser knows that there is no network. */
  readonly offline: boolean;

  constructor(offline: boolean) {
    super(offline ? 'offline' : 'no response');
    this.offline = offline;
  }
}

/** Returns `Retry-After` in milliseconds; the header contains seconds or a date. */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * Calls `attempt` at most 4 times, within 30 seconds in total. Between attempts, waits for a random
 * part of 300 ms, 600 ms, ... up to 8 s, or for `Retry-After`. Retries only 429, 502, 503, 504 and
 * missing responses. Returns the last response.
 *
 * @param tryMs timeout of one attempt in milliseconds
 * @throws {NoResponse} if the last attempt got no response, or immediately if the browser is offline
 */
export async function withRetry(
  attempt: (signal: AbortSignal) => Promise<Response>,
  { now, random, sleep, online }: RetryTools,
  tryMs = TRY_MS,
): Promise<Response> {
  const end = now() + ALL_MS;
  for (let tries = 1; ; tries += 1) {
    const response = await attempt(AbortSignal.timeout(Math.max(1, Math.min(tryMs, end - now())))).catch(
      () => undefined,
    );
    if (response && !RETRYABLE_STATUSES.includes(response.status)) return response;
    const wait =
      (response && retryAfter(response)) ?? random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
    const offline = !response && !online();
    if (offline || tries === TRIES || now() + wait >= end) {
      if (response) return response;
      throw new NoResponse(offline);
    }
    await sleep(wait);
  }
}
