/** The one layer that repeats a call. What it repeats is safe to repeat: reads, and writes that carry their own key. */

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 8_000;
const TRIES = 4;
const ALL_MS = 30_000;
/** One try that has not answered by then is given up, unless the call asks for more. */
const TRY_MS = 12_000;

const AGAIN = new Set([429, 502, 503, 504]);

export interface RetryTools {
  /** Milliseconds. */
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
  sleep: (ms: number) => Promise<void>;
  /** False only when the browser knows that there is no network. */
  online: () => boolean;
}

/** No answer came: there is no network, or nothing answers in time. */
export class NoAnswer extends Error {
  constructor(readonly offline: boolean) {
    super(offline ? 'offline' : 'no answer');
  }
}

/** `Retry-After` in milliseconds, from seconds or a date. */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * Calls `attempt` until it answers: at most 4 times and 30 seconds in all, waiting a random part of 300 ms, 600 ms, ... at most
 * 8 s, or what `Retry-After` says. Only 429, 502, 503, 504, and no answer are tried again. Returns the last response.
 *
 * @throws {NoAnswer} when the last try got none, or at once when the browser is offline.
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
    if (response && !AGAIN.has(response.status)) return response;
    const wait =
      (response && retryAfter(response)) ?? random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
    const offline = !response && !online();
    if (offline || tries === TRIES || now() + wait >= end) {
      if (response) return response;
      throw new NoAnswer(offline);
    }
    await sleep(wait);
  }
}
