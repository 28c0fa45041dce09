import type { NodeCounts } from '@connector-frame/engine';

/** Total counts of a pipeline. */
export interface TotalCounts extends NodeCounts {
  /** Attempts to read or write that failed while a node was erroring. */
  failedAttempts: number;
}

/** What a pipeline has counted in a span of time. */
export interface SpanCounts extends TotalCounts {
  /** Whether all of the span is known. Otherwise, more may have been counted. */
  isWhole: boolean;
}

/** What a pipeline has counted in the window of a rule. */
export interface WindowCounts extends SpanCounts {
  /** Start and end of what was measured, in milliseconds since the epoch. */
  from: number;
  to: number;
  /**
   * Whether the pipeline was enabled and observed for the whole window, except for short restarts, so
   * that a low count means that little has arrived.
   */
  isObserved: boolean;
}
