import { createRetryPolicy, RETRY_LIMITS, type RetryDelay } from './retry-policy.js';
import { systemClock, type Clock } from '../connector-api/clock.js';
import { Counters } from '../pipeline/counters.js';
import type { BatchDelivery } from './batch-delivery.js';
import { DeadLetters } from './dead-letters.js';
import { RetryWaits } from './retry-waits.js';
import { Health } from '../pipeline/health.js';
import type { NewLogEntry } from '../connector-api/log-entry.js';
import type { PipelineLog } from '../pipeline/pipeline-log.js';
import { RecordSamples } from '../pipeline/record-samples.js';
import { EdgeSchemas } from '../schema/edge-schemas.js';
import type { RunnerLimits, RunnerOptions } from './runner-options.js';
import { BatchTraces } from '../tracing/batch-traces.js';

/** Shared dependencies of a pipeline's runs. */
export interface PipelineContext {
  pipelineId: string;
  clock: Clock;
  retryDelay: RetryDelay;
  counters: Counters;
  health: Health;
  deadLetters: DeadLetters;
  /** Waits before the next attempts. */
  retries: RetryWaits;
  /** Waits until a polled input is read again. */
  polls: RetryWaits;
  /** Waits for space in the dead letters. */
  space: RetryWaits;
  /** Batches whose last attempt failed. */
  waiting: Set<BatchDelivery>;
  /** See `RunnerLimits.giveWay`. */
  giveWayMs: number;
  /** Receives the records that leave each node. */
  samples: RecordSamples;
  /** Receives the records that pass edges whose schema is detected. */
  schemas: EdgeSchemas;
  /** Traces in which buffered batches arrived. */
  traces: BatchTraces;
  log(entry: NewLogEntry): void;
}

/** Listeners for changes of the counters and the health. */
export interface ChangeListeners {
  /** Called when a counter changed. */
  onCount(): void;
  /** Called when the status of an input or output may have changed. */
  onChange(): void;
}

type ContextOptions = Pick<
  RunnerOptions,
  'definition' | 'folder' | 'letters' | 'clock' | 'random' | 'samples' | 'schemas' | 'meter'
>;

export function createPipelineContext(
  { definition, folder, letters, clock = systemClock, random = Math.random, samples, schemas, meter }: ContextOptions,
  limits: RunnerLimits,
  pipelineLog: PipelineLog,
  listeners: ChangeListeners,
): PipelineContext {
  const now = (): number => clock.now();
  const log = (entry: NewLogEntry): void => pipelineLog.add(entry);
  const nodeIds = definition.nodes.map(({ id }) => id);
  const counters = new Counters(nodeIds, undefined, () => listeners.onCount(), meter);
  const space = new RetryWaits(clock);
  const { retryCap: maxMs, permanentCap: permanentMaxMs } = limits;
  return {
    pipelineId: definition.id,
    clock,
    retryDelay: createRetryPolicy({ ...RETRY_LIMITS, maxMs, permanentMaxMs, random }),
    retries: new RetryWaits(clock),
    polls: new RetryWaits(clock),
    space,
    waiting: new Set(),
    giveWayMs: limits.giveWay,
    counters,
    health: new Health(
      now,
      log,
      () => listeners.onChange(),
      (nodeId) => counters.addFailedAttempt(nodeId),
    ),
    deadLetters: new DeadLetters(letters ?? folder, {
      maxBytes: limits.deadLetters,
      maxCount: limits.deadLetterCount,
      whenFull: limits.deadLettersFull,
      now,
      onFreed: () => space.endAll(),
      onStored: (nodeId, count) => counters.addLetters(nodeId, 'stored', count),
      onDropped: (nodeId, count) => {
        counters.addLetters(nodeId, 'dropped', count);
        const message = `${count} dead letters deleted to make space for new ones`;
        log({ level: 'error', code: 'dead_letters_dropped', message, nodeId });
      },
    }),
    samples: samples ?? new RecordSamples(now),
    schemas: schemas ?? new EdgeSchemas(now),
    traces: new BatchTraces(),
    log,
  };
}
