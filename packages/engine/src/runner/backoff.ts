export interface BackoffOptions {
  /** Maximum milliseconds before the first retry. Default 300. */
  baseMs?: number;
  /** Maximum milliseconds between two attempts. Default 30,000. */
  capMs?: number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

/**
 * Returns the milliseconds to wait before the next attempt.
 * @param attempt number of failed attempts, from 1
 * @param afterMs milliseconds that the server asked to wait
 */
export type Backoff = (attempt: number, afterMs?: number) => number;

const LONGEST_ASKED = 3_600_000;

/**
 * Creates an exponential backoff with full jitter: the delay is uniform between zero and the limit,
 * so that many clients do not retry at the same time.
 */
export function createBackoff({ baseMs = 300, capMs = 30_000, random }: BackoffOptions): Backoff {
  return (attempt, afterMs) => {
    // Honors the delay the server asked for, plus jitter for the same reason.
    if (afterMs !== undefined) return Math.min(Math.max(afterMs, 0), LONGEST_ASKED) + random() * baseMs;
    return random() * Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  };
}
