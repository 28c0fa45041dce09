import type { PollRecords } from '@connector-frame/catalog/types';
import { isRecord, type DataRecord } from '@connector-frame/engine/connector-api';

const TIMES: Readonly<Record<string, string>> = {
  rfc3339: '{time.iso}',
  seconds: '{time.seconds}',
  milliseconds: '{time.milliseconds}',
};

/**
 * Adds the fields to a shape's record that identify and date a record of the polled vendor, so that
 * pipelines can be tried with them.
 */
export function withPolledFields(
  record: DataRecord,
  { id = [], time, time_form: form = 'rfc3339' }: Pick<PollRecords, 'id' | 'time' | 'time_form'>,
): DataRecord {
  const identified = [id].flat().reduce((result, pointer) => put(result, keysOf(pointer), '{uuid}', true), record);
  const [dated] = [time ?? []].flat();
  return dated === undefined
    ? identified
    : put(identified, keysOf(dated), TIMES[form] ?? `{time.form:${encodeURIComponent(form)}}`, false);
}

const keysOf = (pointer: string): string[] => pointer.split('/').slice(1);

/** Returns the record with `value` at a path; `keep` leaves a value that is there. */
function put(record: DataRecord, [key, ...rest]: readonly string[], value: string, keep: boolean): DataRecord {
  if (key === undefined) return record;
  const current = record[key];
  if (rest.length === 0) return keep && current !== undefined ? record : { ...record, [key]: value };
  return { ...record, [key]: put(isRecord(current) ? current : {}, rest, value, keep) };
}
