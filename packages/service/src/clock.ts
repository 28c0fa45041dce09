/**
 * Time source, in milliseconds since the epoch. Injected, so that tests can check expiry without
 * waiting.
 */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
