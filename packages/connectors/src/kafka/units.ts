import type { Message } from 'kafkajs';
import {
  type Batch,
  type DataRecord,
  type KeyPath,
  parseKeyPath,
  valueAt,
} from '@connector-frame/engine/connector-api';

/** A message, and the indexes of the batch's records that it contains. */
export interface Unit {
  indexes: readonly number[];
  message: Message;
}

export interface UnitOptions {
  /** Sends one array per key instead of one message per record. */
  arrays: boolean;
  /** Record field to use as the message key. */
  keyField: string | undefined;
  headers: Record<string, string>;
}

/** Converts a batch to messages. */
export function toUnits(batch: Batch, options: UnitOptions): Unit[] {
  const path = options.keyField === undefined ? undefined : parseKeyPath(options.keyField);
  const keys = path ? batch.records.map((record) => keyOf(record, path)) : [];
  const all = [...batch.lines.keys()];
  if (!options.arrays) return all.map((index) => toUnit(batch, [index], keys[index], options));
  const groups = new Map<string | undefined, number[]>();
  for (const index of all) groups.set(keys[index], [...(groups.get(keys[index]) ?? []), index]);
  return [...groups].map(([key, indexes]) => toUnit(batch, indexes, key, options));
}

/**
 * Halves a list of units; a single unit is halved into two units with half of its records each.
 *
 * @returns `undefined` if there is only one record
 */
export function split(units: readonly Unit[], batch: Batch, options: UnitOptions): [Unit[], Unit[]] | undefined {
  const [first] = units;
  if (units.length > 1) {
    const middle = Math.ceil(units.length / 2);
    return [units.slice(0, middle), units.slice(middle)];
  }
  if (!first || first.indexes.length < 2) return undefined;
  const middle = Math.ceil(first.indexes.length / 2);
  const key = first.message.key?.toString();
  const half = (indexes: readonly number[]): Unit[] => [toUnit(batch, indexes, key, options)];
  return [half(first.indexes.slice(0, middle)), half(first.indexes.slice(middle))];
}

function toUnit(batch: Batch, indexes: readonly number[], key: string | undefined, options: UnitOptions): Unit {
  const lines = indexes.map((index) => batch.lines[index] ?? '');
  const value = options.arrays ? `[${lines.join(',')}]` : (lines[0] ?? '');
  return { indexes, message: { key: key ?? null, value, headers: options.headers } };
}

function keyOf(record: DataRecord, path: KeyPath): string | undefined {
  const value = valueAt(record, path);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
