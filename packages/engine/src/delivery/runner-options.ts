import type { Bus } from '../bus/bus.js';
import type { Coordinator } from '../coordinator/coordinator.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import type { ResolveSecret, TransformConfig } from '../transforms/operation.js';
import type { Clock } from '../connector-api/clock.js';
import type { Enrichment, Input, Output } from '../connector-api/index.js';
import type { Meter } from '../pipeline/meter.js';
import type { PipelineLog } from '../pipeline/pipeline-log.js';
import type { RecordSamples } from '../pipeline/record-samples.js';
import type { Suspension } from '../connector-api/suspension.js';
import type { EdgeSchemas } from '../schema/edge-schemas.js';
import type { LetterStorage } from './letter-storage.js';
import { PERMANENT_MAX_MS } from './retry-policy.js';

/** Implementations of the nodes of a pipeline, by node id. A node without one can't run. */
export interface Components {
  readonly inputs: ReadonlyMap<string, Input>;
  readonly outputs: ReadonlyMap<string, Output>;
  readonly transforms: ReadonlyMap<string, TransformConfig>;
  /** Absent: none. */
  readonly enrichments?: ReadonlyMap<string, Enrichment>;
  /** Returns the values of secrets that operations of transforms refer to. */
  readonly resolveSecret?: ResolveSecret;
  /** Why a node has no implementation; a node without an entry is reported as `no_runtime`. */
  readonly problems?: ReadonlyMap<string, MissingPart>;
}

/** Why a pipeline can't run, as shown in its state. */
export interface MissingPart {
  /** A stable code. */
  readonly code: string;
  /** Message for users, written by us, with what to do. */
  readonly message: string;
}

export interface RunnerOptions {
  definition: PipelineDefinition;
  components: Components;
  bus: Bus;
  coordinator: Coordinator;
  /** Identifies this process among all that share the coordinator. */
  holder: string;
  /** Folder for the dead letters of this pipeline. */
  folder: string;
  /** Where the dead letters are, rather than in `folder`. */
  letters?: LetterStorage;
  /** Log of a previous runner of this pipeline, to continue with. */
  log?: PipelineLog;
  /** Receives the records that pass, for readers that outlive this runner. */
  samples?: RecordSamples;
  /** Observes the records on some edges, for longer than this runner lives. */
  schemas?: EdgeSchemas;
  /** Receives each counted amount, for billing. */
  meter?: Meter;
  /**
   * Other processes have runners of this pipeline, too. All of them accept records; only the holder of
   * the lease delivers, and owns the counts.
   */
  isShared?: boolean;
  /** Called when the lease was acquired, with the counts of the previous holder. */
  onAcquired?: () => void;
  /** Called when the lease was lost or handed over. */
  onReleased?: () => void;
  /** Suspends the pipeline from the start: see `PipelineRunner.suspend`. */
  suspension?: Suspension;
  clock?: Clock;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random?: () => number;
  limits?: Partial<RunnerLimits>;
}

/** Times in milliseconds. */
export interface RunnerLimits {
  /** Interval of the reconcile loop, which also renews the lease and the report. Default 2,000. */
  reconcile: number;
  /** Maximum delay of a report after a counter changed, if `reconcile` is longer. Default 2,000. */
  report: number;
  /** Time after which the lease of a dead worker expires. Default 15,000. */
  leaseTtl: number;
  /** Grace period for an output to finish when the pipeline pauses or stops. Default 10,000. */
  grace: number;
  /** Maximum wait between two attempts. Default 30,000. */
  retryCap: number;
  /** Maximum wait after a permanent failure, such as refused credentials. Default 900,000. */
  permanentCap: number;
  /**
   * Time after which a batch goes to the dead letters although nothing shows that its records are at
   * fault: each was refused on its own, and the output accepted none in between. Default 3,600,000.
   */
  giveWay: number;
  /** Maximum size of the dead letters of a node in bytes. Default 16 MiB. */
  deadLetters: number;
  /** Maximum number of dead letters of a node. Default 100,000. */
  deadLetterCount: number;
  /**
   * What happens when a node has no space for another dead letter. `block` (default): delivery at
   * that node stops until letters are removed, and records stay in the buffer. `drop_oldest`: the
   * oldest are deleted and counted.
   */
  deadLettersFull: 'block' | 'drop_oldest';
}

/** Defaults for limits that are not set. */
export const DEFAULT_LIMITS: RunnerLimits = {
  reconcile: 2_000,
  report: 2_000,
  leaseTtl: 15_000,
  grace: 10_000,
  retryCap: 30_000,
  permanentCap: PERMANENT_MAX_MS,
  giveWay: 3_600_000,
  deadLetters: 16 * 1024 * 1024,
  deadLetterCount: 100_000,
  deadLettersFull: 'block',
};
