import type { Bus } from '../bus/bus.js';
import type { Coordinator } from '../coordinator/coordinator.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import type { TransformConfig } from '../transforms/operation.js';
import type { Clock } from './clock.js';
import type { Input, Output } from './ends.js';
import type { PipelineLog } from './pipeline-log.js';

/** What stands at the nodes of a pipeline, by node id. What is missing has no runtime here. */
export interface Components {
  readonly inputs: ReadonlyMap<string, Input>;
  readonly outputs: ReadonlyMap<string, Output>;
  readonly transforms: ReadonlyMap<string, TransformConfig>;
  /** Why there is nothing at a node; a node without a word here has no runtime. */
  readonly problems?: ReadonlyMap<string, MissingPart>;
}

/** What a pipeline lacks to run at all, as its state tells it. */
export interface MissingPart {
  /** A stable word. */
  readonly code: string;
  /** Our own words, with what to do. */
  readonly message: string;
}

export interface RunnerOptions {
  definition: PipelineDefinition;
  components: Components;
  bus: Bus;
  coordinator: Coordinator;
  /** Names this process among all that share the coordinator. */
  holder: string;
  /** Folder for the dead letters of this pipeline. */
  folder: string;
  /** Of a runner before this one, to go on with. */
  log?: PipelineLog;
  clock?: Clock;
  /** From 0 up to 1. */
  random?: () => number;
  limits?: Partial<RunnerLimits>;
}

/** Times in milliseconds. */
export interface RunnerLimits {
  /** How often the wish is looked at and the lease and the report are renewed. Default 2,000. */
  beat: number;
  /** How soon after something was counted the report says so, where the beat is slower. Default 2,000. */
  report: number;
  /** A worker that is dead for so long is replaced. Default 15,000. */
  leaseTtl: number;
  /** What an output may take to finish when the pipeline pauses or stops. Default 10,000. */
  grace: number;
  /** Longest wait between tries. Default 30,000. */
  retryCap: number;
  /** Bytes of dead letters that are kept. Default 16 MiB. */
  deadLetters: number;
}

/** What holds where the options say nothing. */
export const DEFAULT_LIMITS: RunnerLimits = {
  beat: 2_000,
  report: 2_000,
  leaseTtl: 15_000,
  grace: 10_000,
  retryCap: 30_000,
  deadLetters: 16 * 1024 * 1024,
};
