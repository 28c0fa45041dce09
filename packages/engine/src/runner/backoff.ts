export interface BackoffOptions {
  /** Milliseconds before the second try, at most. Default 300. */
  baseMs?: number;
  /** Milliseconds between tries, at most. Default 30,000. */
  capMs?: number;
  /** From 0 up to 1. */
  random: () => number;
}

/** Milliseconds to wait before the next try. `attempt`: how many have failed, from 1. */
export type Backoff = (attempt: number, afterMs?: number) => number;

const LONGEST_ASKED = 3_600_000;

/** Exponential with full jitter: anything from nothing to the bound, so that many do not come back together. */
export function createBackoff({ baseMs = 300, capMs = 30_000, random }: BackoffOptions): Backoff {
  return (attempt, afterMs) => {
    // Who asks for a time gets it, and a little more, for the same reason.
    if (afterMs !== undefined) return Math.min(Math.max(afterMs, 0), LONGEST_ASKED) + random() * baseMs;
    return random() * Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  };
}
