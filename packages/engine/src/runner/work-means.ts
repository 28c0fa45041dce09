import { join } from 'node:path';
import { createBackoff, type Backoff } from './backoff.js';
import { systemClock, type Clock } from './clock.js';
import { Counters } from './counters.js';
import { DeadLetters } from './dead-letters.js';
import { Health } from './health.js';
import type { NewLogEntry, PipelineLog } from './pipeline-log.js';
import type { RunnerLimits, RunnerOptions } from './runner-options.js';

/** Shared dependencies of a pipeline's runs. */
export interface WorkMeans {
  clock: Clock;
  backoff: Backoff;
  counters: Counters;
  health: Health;
  deadLetters: DeadLetters;
  log(entry: NewLogEntry): void;
}

/** Listeners for changes of the counters and the health. */
export interface News {
  /** Called when a counter changed. */
  counted(): void;
  /** Called when the status of an input or output may have changed. */
  changed(): void;
}

export function createWorkMeans(
  { definition, folder, clock = systemClock, random = Math.random }: RunnerOptions,
  limits: RunnerLimits,
  pipelineLog: PipelineLog,
  news: News,
): WorkMeans {
  const now = (): number => clock.now();
  const log = (entry: NewLogEntry): void => pipelineLog.add(entry);
  const nodeIds = definition.nodes.map(({ id }) => id);
  return {
    clock,
    backoff: createBackoff({ capMs: limits.retryCap, random }),
    counters: new Counters(nodeIds, undefined, () => news.counted()),
    health: new Health(now, log, () => news.changed()),
    deadLetters: new DeadLetters(join(folder, 'dead-letters.ndjson'), limits.deadLetters, now),
    log,
  };
}
