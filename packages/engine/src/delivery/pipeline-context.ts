import { join } from 'node:path';
import { createRetryPolicy, RETRY_LIMITS, type RetryDelay } from './retry-policy.js';
import { systemClock, type Clock } from '../connector-api/clock.js';
import { Counters } from '../pipeline/counters.js';
import { DeadLetters } from './dead-letters.js';
import { Health } from '../pipeline/health.js';
import type { NewLogEntry } from '../connector-api/log-entry.js';
import type { PipelineLog } from '../pipeline/pipeline-log.js';
import type { RunnerLimits, RunnerOptions } from './runner-options.js';

/** Shared dependencies of a pipeline's runs. */
export interface PipelineContext {
  clock: Clock;
  retryDelay: RetryDelay;
  counters: Counters;
  health: Health;
  deadLetters: DeadLetters;
  log(entry: NewLogEntry): void;
}

/** Listeners for changes of the counters and the health. */
export interface ChangeListeners {
  /** Called when a counter changed. */
  onCount(): void;
  /** Called when the status of an input or output may have changed. */
  onChange(): void;
}

export function createPipelineContext(
  { definition, folder, clock = systemClock, random = Math.random }: RunnerOptions,
  limits: RunnerLimits,
  pipelineLog: PipelineLog,
  listeners: ChangeListeners,
): PipelineContext {
  const now = (): number => clock.now();
  const log = (entry: NewLogEntry): void => pipelineLog.add(entry);
  const nodeIds = definition.nodes.map(({ id }) => id);
  return {
    clock,
    retryDelay: createRetryPolicy({ ...RETRY_LIMITS, maxMs: limits.retryCap, random }),
    counters: new Counters(nodeIds, undefined, () => listeners.onCount()),
    health: new Health(now, log, () => listeners.onChange()),
    deadLetters: new DeadLetters(join(folder, 'dead-letters.ndjson'), limits.deadLetters, now),
    log,
  };
}
