import type { DataRecord } from '@connector-frame/engine/connector-api';
import { holds } from './condition.js';
import { withDetails } from './detail.js';
import { isText } from './records.js';
import type { StreamContext } from './stream-context.js';
import { fill, type Values } from './template.js';

/** Completes new records by their details, and by the texts that the definition adds. */
export async function completed(
  { stream, client }: StreamContext,
  records: DataRecord[],
  values: Values,
  signal: AbortSignal,
): Promise<DataRecord[]> {
  if (records.length === 0) return records;
  const { detail } = stream;
  const detailed =
    detail && holds(detail.when, client.values)
      ? await withDetails({ ...stream, detail }, records, client, values, signal)
      : records;
  const added = Object.entries(stream.records.add ?? {}).flatMap(([name, template]): [string, string][] => {
    const text = isText(template) ? fill(template, values) : undefined;
    return text === undefined ? [] : [[name, text]];
  });
  return added.length === 0 ? detailed : detailed.map((record) => ({ ...record, ...Object.fromEntries(added) }));
}
