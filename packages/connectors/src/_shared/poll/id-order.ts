import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';

/** Compares ids: numbers, also beyond 2^53, by value, others as text. */
export function compareIds(a: string, b: string): number {
  const [x, y] = [a, b].map((id) => (/^\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : undefined));
  if (x === undefined || y === undefined) return a < b ? -1 : a > b ? 1 : 0;
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : 0);
}

export function idAt(record: DataRecord | undefined, path: unknown): string | undefined {
  const id: unknown = typeof path === 'string' ? getAt(record, path) : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

/** Returns the greatest id of records and `before`: pages may be unordered. */
export function greatestId(records: readonly DataRecord[], path: unknown, before?: string): string | undefined {
  let greatest = before;
  for (const record of records) {
    const id = idAt(record, path);
    if (id !== undefined && (greatest === undefined || compareIds(id, greatest) > 0)) greatest = id;
  }
  return greatest;
}

/**
 * Returns the id to request records after: the greatest if ids are numbers, otherwise the last one,
 * or `before` if there are none.
 */
export function lastId(records: readonly DataRecord[], path: unknown, before?: string): string | undefined {
  const last = records.map((record) => idAt(record, path)).findLast((id) => id !== undefined);
  if (last === undefined || !/^\d+$/.test(last)) return last ?? before;
  return greatestId(records, path, before);
}
