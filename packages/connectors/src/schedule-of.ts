import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { withDefaults } from '@connector-frame/catalog/validate';
import { nextRun } from './_shared/poll/schedule.js';
import { text } from './_shared/read.js';
import { registry } from './registry.js';
import { isSyntheticEnabled } from './synthetic/input.js';

/** When an input with a schedule is read. */
export interface Schedule {
  /** Five fields, as in cron, in UTC. */
  readonly text: string;
  /**
   * Returns the first due minute after a time, or `undefined` if there is none. Both are
   * milliseconds since the epoch.
   */
  next(after: number): number | undefined;
}

/**
 * Returns the schedule of an input, or `undefined` if it is read at intervals or not polled.
 *
 * @param settings settings of the input, as stored
 * @example
 * scheduleOf(type, settings)?.next(Date.now());
 */
export function scheduleOf(type: ConnectorTypeData, settings: Readonly<Record<string, unknown>>): Schedule | undefined {
  const pointer = type.poll ? type.poll.schedule : ownSchedule(type);
  const config = withDefaults(type.config, { settings });
  if (pointer === undefined || isSyntheticEnabled(type, config)) return undefined;
  const schedule = text(config, ...pointer.split('/').slice(1));
  if (schedule === undefined) return undefined;
  return { text: schedule, next: (after) => nextRun(schedule, after) };
}

/** Returns the setting with the schedule of a type with its own code. */
function ownSchedule({ kind, type_id: typeId, config }: ConnectorTypeData): string | undefined {
  if (registry.get(`${kind}:${typeId}`)?.createInput === undefined) return undefined;
  const field = config.settings.properties['cron'];
  return field && 'format' in field && field.format === 'cron' ? '/settings/cron' : undefined;
}
