/** Response types of the demo server's pipeline routes. */
import type { PipelineStatus } from '@connector-frame/core/connect';

/** Status of the pipeline of one input. */
export interface PipelineSnapshot {
  pipelineId: string;
  outputId: string | null;
  status: PipelineStatus;
  /**
   * Records received since the pipeline was created, written by its outputs, permanently rejected,
   * and buffered.
   */
  received: number;
  delivered: number;
  errors: number;
  waiting: number;
  /** Records not delivered to an output: dropped by its overflow policy, lost with buffer files. */
  dropped: number;
  lost: number;
  /** RFC 3339. */
  lastRecordAt: string | null;
  /** Message of the most recent error. */
  problem: string | null;
  /** Why an enabled pipeline is `Disabled`, such as a quota that is used up. */
  suspension: string | null;
  /** Records per second in each completed ten-second interval, oldest first. */
  history: readonly number[];
}

/** `GET /demo/pipelines`: snapshots by input ID; `null` for an input without a pipeline. */
export interface PipelineSnapshots {
  pipelines: Readonly<Record<string, PipelineSnapshot | null>>;
}

/** Where an input receives records. */
export interface IngestAddress {
  url: string;
  /** Set for an input that listens on its own port and does not speak HTTP. */
  listens: { host: string; port: number } | null;
  hasToken: boolean;
}

/** `POST /demo/pipelines/test-event`. */
export interface TestEventResult {
  event: Readonly<Record<string, unknown>>;
}

/** One event of `GET /demo/pipelines/log`. */
export interface LogLine {
  sequence: number;
  /** RFC 3339. */
  time: string;
  level: 'info' | 'warn' | 'error';
  message: string;
}

/** What is deleted with a pipeline: the values of the host's route. */
export type Cleanup = 'full' | 'keep-output' | 'pipeline-only';
