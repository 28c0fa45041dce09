import type { PipelineStatus } from '@connector-frame/engine';
import type { SpanCounts } from './counts.js';

/** The last failure in the log of a pipeline. */
export interface LastError {
  /** Milliseconds since the epoch. */
  at: number;
  code: string;
  message: string;
  nodeId?: string;
}

/** A pipeline of the engine as rules see it. */
export interface WatchedPipeline {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly status: PipelineStatus;
  /**
   * Since when it has been enabled without a pause, in milliseconds since the epoch; not earlier than
   * known. `undefined` while it is paused.
   */
  readonly enabledSince: number | undefined;
  /** Whether its input delivers alerts. */
  readonly deliversAlerts: boolean;
  /** Returns what was counted in the last `ms` milliseconds before `now`, at most ten minutes. */
  counted(ms: number, now: number): SpanCounts;
  /** Returns the slug of a node. */
  slugOf(nodeId: string): string | undefined;
  lastError(): LastError | undefined;
}
