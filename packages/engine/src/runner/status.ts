import type { PipelineStatus } from '../pipeline/definition.js';

/** What is known of a pipeline from the outside and from its worker. */
export interface Facts {
  /** Wanted on. */
  enabled: boolean;
  /** A worker holds its lease. */
  held: boolean;
  /** When the worker last said so; absent: never. */
  heartbeatAt?: number;
  /** It reads or delivers, or still finishes what it had begun. */
  working: boolean;
  /** Both ends have answered, and nothing that was read waits for its first acknowledgement. */
  acknowledged: boolean;
  /** Tries that failed in a row, at the end where it is worst. */
  failures: number;
  /** Something that will not go away by itself. */
  permanent: boolean;
  /** A side asked for less, until then. */
  throttledUntil?: number;
  /** The buffer takes no more. */
  full: boolean;
}

/** A worker that is silent for longer may be dead. Milliseconds. */
export const HEARTBEAT_LIMIT = 15_000;
/** So many failures in a row are no accident. */
export const FAILURE_LIMIT = 3;

/** The state of a pipeline, from nothing but what was observed. `now`: milliseconds since the epoch. */
export function statusOf(facts: Facts, now: number): PipelineStatus {
  if (!facts.enabled && !(facts.held && facts.working)) return 'Disabled';
  if (!facts.held) return 'Pending';
  if (facts.heartbeatAt === undefined || now - facts.heartbeatAt > HEARTBEAT_LIMIT) return 'Unknown';
  if (facts.permanent || facts.failures >= FAILURE_LIMIT) return 'Erroring';
  if (facts.full || (facts.throttledUntil !== undefined && facts.throttledUntil > now)) return 'Throttled';
  return facts.working && facts.acknowledged ? 'Running' : 'Initializing';
}
