import type { DataRecord } from '@connector-frame/engine/connector-api';
import { holds } from './condition.js';
import { withDetails } from './detail.js';
import { withoutOmitted } from './omit.js';
import { isText } from './records.js';
import type { StreamContext } from './stream-context.js';
import { fill, type Values } from './template.js';

/** Completes the records of a page whose `time` and `id` are in their details. */
export const completedEarly = (
  context: StreamContext,
  records: DataRecord[],
  values: Values,
  signal: AbortSignal,
): Promise<DataRecord[]> => detailed(context, records, values, signal, true);

/**
 * Completes new records by their details, and by the texts that the definition adds. Properties that
 * are not to be delivered are removed last.
 */
export async function completed(
  context: StreamContext,
  records: DataRecord[],
  values: Values,
  signal: AbortSignal,
): Promise<DataRecord[]> {
  if (records.length === 0) return records;
  const { stream, client } = context;
  const found = await detailed(context, records, values, signal, undefined);
  const added = Object.entries(stream.records.add ?? {}).flatMap(([name, template]): [string, string][] => {
    const text = isText(template) ? fill(template, values) : undefined;
    return text === undefined ? [] : [[name, text]];
  });
  const whole = added.length === 0 ? found : found.map((record) => ({ ...record, ...Object.fromEntries(added) }));
  return withoutOmitted(stream.records, client.values, whole);
}

/** Requests the details of records if it is time for them: `early`, or once new records are known. */
async function detailed(
  { stream, client }: StreamContext,
  records: DataRecord[],
  values: Values,
  signal: AbortSignal,
  early: true | undefined,
): Promise<DataRecord[]> {
  const { detail } = stream;
  const isDue = detail && detail.early === early && holds(detail.when, client.values);
  return isDue ? withDetails({ ...stream, detail }, records, client, values, signal) : records;
}
