import type { PollRecords } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { parseTime } from './times.js';

/**
 * Returns the time of a record in milliseconds since the epoch; of several paths, that of the first
 * with a value.
 *
 * @param zone of times without one
 */
export function timeOf(
  record: DataRecord,
  { time, time_form: form }: Pick<PollRecords, 'time' | 'time_form'>,
  zone: string | undefined,
): number | undefined {
  const value: unknown = [time ?? []]
    .flat()
    .map((path): unknown => getAt(record, path))
    .find((each) => (each ?? '') !== '');
  return value === undefined ? undefined : parseTime(value, form, zone);
}
