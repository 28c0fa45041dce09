/** What the demo's server answers about pipelines, as its pages read it. */
import type { PipelineStatus } from '@connector-frame/core/connect';

/** How the pipeline of one input does. */
export interface PipelineSnapshot {
  pipelineId: string;
  outputId: string | null;
  status: PipelineStatus;
  /** Records taken in since it was made, written by its outputs, refused for good, and in the buffer. */
  received: number;
  delivered: number;
  errors: number;
  waiting: number;
  /** RFC 3339. */
  lastRecordAt: string | null;
  /** What went wrong last. */
  problem: string | null;
  /** Records a second in each interval of ten seconds that is over, the oldest first. */
  history: readonly number[];
}

/** `GET /demo/pipelines`: by input; `null` where an input has no pipeline. */
export interface PipelineSnapshots {
  pipelines: Readonly<Record<string, PipelineSnapshot | null>>;
}

/** Where an input takes in what is sent to it. */
export interface IngestPlace {
  url: string;
  /** Of an input that has a port of its own, and speaks no HTTP. */
  listens: { host: string; port: number } | null;
  hasToken: boolean;
}

/** `POST /demo/pipelines/test-event`. */
export interface TestEventAnswer {
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

/** What goes with a pipeline: the names of the host's route. */
export type Cleanup = 'full' | 'keep-output' | 'pipeline-only';
