import type { PipelineStatus } from './definition.js';

/** Observed facts about a pipeline, from the coordinator and its worker. */
export interface Facts {
  /** Desired state. */
  enabled: boolean;
  /** A worker holds its lease. */
  held: boolean;
  /**
   * Time of the worker's last heartbeat in milliseconds since the epoch; absent if there was none.
   */
  heartbeatAt?: number;
  /** The worker reads or delivers, or finishes its current work. */
  working: boolean;
  /** Input and outputs have responded, and no output still has to acknowledge its first batch. */
  acknowledged: boolean;
  /** Consecutive failures, of the input or output with the most. */
  failures: number;
  /** A failure that needs manual intervention. */
  permanent: boolean;
  /** Time until which the remote side is throttling, in milliseconds since the epoch. */
  throttledUntil?: number;
  /** The buffer is full. */
  full: boolean;
}

/** Milliseconds after which a worker without a heartbeat may be dead. */
export const HEARTBEAT_LIMIT = 15_000;
/** Number of consecutive failures that counts as an error. */
export const FAILURE_LIMIT = 3;

/**
 * Derives the status of a pipeline from observed facts alone.
 * @param now milliseconds since the epoch
 */
export function statusOf(facts: Facts, now: number): PipelineStatus {
  if (!facts.enabled && !(facts.held && facts.working)) return 'Disabled';
  if (!facts.held) return 'Pending';
  if (facts.heartbeatAt === undefined || now - facts.heartbeatAt > HEARTBEAT_LIMIT) return 'Unknown';
  if (facts.permanent || facts.failures >= FAILURE_LIMIT) return 'Erroring';
  if (facts.full || (facts.throttledUntil !== undefined && facts.throttledUntil > now)) return 'Throttled';
  return facts.working && facts.acknowledged ? 'Running' : 'Initializing';
}
