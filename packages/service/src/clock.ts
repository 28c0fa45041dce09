/** Time as the service sees it: milliseconds since the epoch. Injected, so that expiry can be tested without waiting. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
