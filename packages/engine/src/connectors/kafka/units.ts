import type { Message } from 'kafkajs';
import { parseKeyPath, valueAt, type KeyPath } from '../../conditions/key-path.js';
import type { Batch } from '../../records/batch.js';
import type { DataRecord } from '../../records/record.js';

/** A message, and the records of the batch that are in it. */
export interface Unit {
  indexes: readonly number[];
  message: Message;
}

export interface UnitOptions {
  /** One array for all records with the same key, rather than one message for each record. */
  arrays: boolean;
  /** Field that becomes the key. */
  keyField: string | undefined;
  headers: Record<string, string>;
}

/** The messages of a batch. */
export function toUnits(batch: Batch, options: UnitOptions): Unit[] {
  const path = options.keyField === undefined ? undefined : parseKeyPath(options.keyField);
  const keys = path ? batch.records.map((record) => keyOf(record, path)) : [];
  const all = [...batch.lines.keys()];
  if (!options.arrays) return all.map((index) => toUnit(batch, [index], keys[index], options));
  const groups = new Map<string | undefined, number[]>();
  for (const index of all) groups.set(keys[index], [...(groups.get(keys[index]) ?? []), index]);
  return [...groups].map(([key, indexes]) => toUnit(batch, indexes, key, options));
}

/** Two of one, or one half each of several; `undefined` when it is a single record. */
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
