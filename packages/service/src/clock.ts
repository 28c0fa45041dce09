/** Time source in milliseconds. Injected, so that tests can check expiry without waiting. */
export interface Clock {
  /** Since the epoch. The system's clock may jump, forward and back. */
  now(): number;
  /** Since an arbitrary start. Never jumps, so lifetimes are measured with it. */
  elapsed(): number;
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };
