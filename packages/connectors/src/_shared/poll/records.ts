import type { PollRecords } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { isRecord, type DataRecord } from '@connector-frame/engine/connector-api';
import { texts } from '../read.js';

/**
 * Returns the list of records in a response body. Items that are not objects become `{ value }`.
 *
 * @returns `undefined` if the body does not have the vendor's format
 */
export function recordsIn(
  { path, optional }: Pick<PollRecords, 'path' | 'optional'>,
  body: unknown,
): DataRecord[] | undefined {
  const found: unknown = getAt(body, path);
  if (!Array.isArray(found)) return optional && isRecord(body) && (found ?? null) === null ? [] : undefined;
  return found.map((item: unknown): DataRecord => (isRecord(item) ? item : { value: plain(item) }));
}

const plain = (item: unknown): string | number | boolean | null =>
  typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean'
    ? item
    : JSON.stringify(item ?? null);

/** Whether a record passes the filter that a setting configures. */
export function isSelected({ only }: PollRecords, settings: Record<string, unknown>, record: DataRecord): boolean {
  if (!only) return true;
  const selected = texts({ settings }, ...only.field.split('/').slice(1));
  const value: unknown = getAt(record, only.path);
  return selected.length === 0 || (typeof value === 'string' && selected.includes(value));
}
