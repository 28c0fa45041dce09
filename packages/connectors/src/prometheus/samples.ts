import { Writer } from 'protobufjs/minimal.js';
import { valueAt, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { nanosOf } from '../_shared/time-of.js';
import type { SeriesFields } from './config.js';

export interface Sample {
  /** Sorted by name. */
  labels: readonly (readonly [name: string, value: string])[];
  value: number;
  /** Milliseconds since the epoch; `undefined`: the record has none. */
  time: number | undefined;
}

const METRIC = /^[A-Za-z_:][A-Za-z0-9_:]*$/;

/** Returns the sample of a record, or the reason why it has none. */
export function sampleOf(record: DataRecord, fields: SeriesFields): Sample | { reason: string } {
  const name = 'fixed' in fields.name ? fields.name.fixed : valueAt(record, fields.name.path);
  if (typeof name !== 'string' || !METRIC.test(name)) return { reason: 'invalid_metric_name' };
  const value = numberOf(valueAt(record, fields.value));
  if (value === undefined) return { reason: 'no_number' };
  const given = fields.timestamp && valueAt(record, fields.timestamp);
  const nanos = nanosOf(given);
  if (given !== undefined && nanos === undefined) return { reason: 'invalid_time' };
  const labels = fields.labels.flatMap(({ label, path }): [string, string][] => {
    const text = textOf(valueAt(record, path));
    return text === '' ? [] : [[label, text]];
  });
  return {
    // In the order of bytes, as the receiver checks.
    labels: [['__name__', name] as const, ...labels].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    value,
    time: nanos === undefined ? undefined : Number(nanos / 1_000_000n),
  };
}

function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined;
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * Encodes samples with times as a `WriteRequest`. Samples of a series are sent together, in the order
 * of their time. https://prometheus.io/docs/specs/prw/remote_write_spec/#protocol
 */
export function encodeWriteRequest(samples: readonly (Sample & { time: number })[]): Uint8Array {
  const series = new Map<string, (Sample & { time: number })[]>();
  for (const sample of samples) {
    const key = seriesKey(sample);
    const known = series.get(key);
    if (known) known.push(sample);
    else series.set(key, [sample]);
  }
  const writer = Writer.create();
  for (const all of series.values()) {
    writer.uint32(10).fork();
    for (const [name, value] of all[0]?.labels ?? [])
      writer.uint32(10).fork().uint32(10).string(name).uint32(18).string(value).ldelim();
    for (const { value, time } of all.toSorted((a, b) => a.time - b.time))
      writer.uint32(18).fork().uint32(9).double(value).uint32(16).int64(time).ldelim();
    writer.ldelim();
  }
  return writer.finish();
}

export const seriesKey = ({ labels }: Sample): string => JSON.stringify(labels);
