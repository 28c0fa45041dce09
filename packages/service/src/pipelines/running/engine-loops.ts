import type { Clock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import { describeError } from '../../describe-error.js';
import type { QuotaKeeper } from '../../usage/quota-keeper.js';
import type { UsageMeter } from '../../usage/usage-meter.js';
import { INTERVAL_SECONDS } from './metrics-history.js';
import type { Supervisor } from './supervisor.js';

/** Intervals in milliseconds. */
const FLUSH = 2_000;
const USAGE_FLUSH = 5_000;
const QUOTA_CHECK = 1_000;
const QUOTA_LOAD = 2_000;
const LOAD_RETRY = 5_000;
const STORAGE = 1_000;
const SWEEP = 30_000;
const MINUTE = 60_000;

/** Runs work repeatedly, with pauses. Logs only the first of consecutive failures. */
export type Repeat = (pause: () => number, work: () => Promise<void> | void, message: string) => Promise<void>;

/** @param signal ends the repetition after the work that is running */
export const createRepeat =
  (clock: Clock, signal: AbortSignal, log: Logger): Repeat =>
  async (pause, work, message) => {
    for (let hasFailed = false; ;) {
      await clock.sleep(pause(), signal);
      if (signal.aborted) return;
      try {
        await work();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) log.warn({ problem: describeError(error) }, message);
        hasFailed = true;
      }
    }
  };

/** Returns the milliseconds until the next full interval of `length` milliseconds has begun. */
export const untilNext = (length: number, clock: Clock): number => length - (clock.now() % length) + 1;

export interface LoopParts {
  repeat: Repeat;
  clock: Clock;
  supervisor: Pick<Supervisor, 'sweep'>;
  meter: Pick<UsageMeter, 'flush'>;
  quotas: Pick<QuotaKeeper, 'check' | 'load'>;
  /** Writes the reports of pipelines. */
  flushReports: () => Promise<void>;
  storeSchemas: () => Promise<void>;
  recordCounts: () => Promise<void>;
  /** Samples metrics, once per interval of the history. */
  sample: () => Promise<void> | void;
  /** Logs changes of the storage of the buffers. */
  logChanges: () => Promise<void> | void;
}

/** Starts what every engine repeats. Each promise resolves when its repetition has ended. */
export function engineLoops(parts: LoopParts): Promise<void>[] {
  const { repeat, clock, supervisor, meter, quotas } = parts;
  return [
    repeat(() => FLUSH, parts.flushReports, 'could not write pipeline reports; retrying'),
    repeat(() => FLUSH, parts.storeSchemas, 'could not store the schemas of records; retrying'),
    repeat(
      () => SWEEP,
      () => supervisor.sweep(),
      'could not list pipelines; retrying',
    ),
    repeat(() => untilNext(MINUTE, clock), parts.recordCounts, 'could not store the counts of pipelines; retrying'),
    repeat(() => untilNext(INTERVAL_SECONDS * 1_000, clock), parts.sample, 'could not sample metrics'),
    repeat(
      () => USAGE_FLUSH,
      () => meter.flush(),
      'could not store usage; retrying',
    ),
    repeat(
      () => QUOTA_CHECK,
      () => quotas.check(),
      'could not check quotas',
    ),
    repeat(
      () => QUOTA_LOAD,
      () => quotas.load(),
      'could not read quotas; retrying',
    ),
    repeat(() => STORAGE, parts.logChanges, 'could not check the storage of the buffers; retrying'),
  ];
}

/** Reads quotas before pipelines start: suspended ones must not run until their quota is known. Never rejects. */
export async function loadQuotas(
  quotas: Pick<QuotaKeeper, 'load'>,
  { clock, signal, log }: { clock: Clock; signal: AbortSignal; log: Logger },
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await quotas.load();
    } catch (error) {
      log.warn({ problem: describeError(error) }, 'could not read quotas; retrying');
      await clock.sleep(LOAD_RETRY, signal);
    }
  }
}
