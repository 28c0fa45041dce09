import type { PollRecords } from '@connector-frame/catalog/types';
import { isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../exact-json.js';
import type { PollResponse } from './client.js';
import { isList, matchPath, withKeys, type Match } from './record-path.js';

export type RecordShape = Pick<PollRecords, 'path' | 'optional' | 'shape' | 'key' | 'columns' | 'add' | 'json'>;

/**
 * Returns the records in a response.
 *
 * @returns `undefined` if it does not have the vendor's format
 */
export function recordsOf(
  shape: RecordShape,
  { status, body, format }: Pick<PollResponse, 'status' | 'body' | 'format'>,
): DataRecord[] | undefined {
  // A proxy may return an empty page in place of the vendor's JSON.
  if (body === null && (status === 204 || shape.optional || format !== 'json')) return [];
  return recordsIn(shape, body, format === 'xml');
}

/**
 * Returns the records in a response body. Items that are not objects become `{ value }`.
 *
 * @param lenient one item may stand for a list of one, and nothing for an empty one, as in XML
 * @returns `undefined` if the body does not have the vendor's format
 */
function recordsIn(shape: RecordShape, body: JsonValue, lenient: boolean): DataRecord[] | undefined {
  // Nothing stands for an empty list, but not in another document, such as that of an error.
  if (lenient && !isRecord(body)) return undefined;
  if (lenient && [shape.path].flat().every((path) => matchPath(body, rootOf(path))[0]?.value === undefined))
    return undefined;
  const records: DataRecord[] = [];
  for (const path of [shape.path].flat()) {
    for (const match of matchPath(body, path, lenient)) {
      const found = recordsAt(shape, match, body, lenient);
      if (!found) return undefined;
      for (const record of found) records.push(shape.json ? withParsed(record, shape.json) : record);
    }
  }
  return records;
}

/** Parses those texts of a record that are JSON objects. Others stay as they are. */
function withParsed(record: DataRecord, paths: readonly string[]): DataRecord {
  const parsed = paths.flatMap((path): [string, DataRecord][] => {
    const name = path.slice(1);
    const value = record[name];
    if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return [];
    try {
      const found = parseExact(value);
      return isRecord(found) ? [[name, found]] : [];
    } catch {
      return [];
    }
  });
  return parsed.length === 0 ? record : { ...record, ...Object.fromEntries(parsed) };
}

/** Returns the path of the root element. */
const rootOf = (path: string): string => path.split('/').slice(0, 2).join('/');

function recordsAt(shape: RecordShape, match: Match, body: JsonValue, lenient: boolean): DataRecord[] | undefined {
  const { value } = match;
  if (value === undefined || value === null)
    return lenient || (shape.optional && (isRecord(body) || isList(body))) ? [] : undefined;
  const items = itemsOf(shape, match, body, lenient);
  const added = addedTo(shape, match, body);
  return added.length === 0 ? items : items?.map((record) => ({ ...record, ...Object.fromEntries(added) }));
}

/** Returns the fields that every record of a match gets: those of its parents, and its key. */
function addedTo({ shape, key, add = {} }: RecordShape, { keys }: Match, body: JsonValue): [string, JsonValue][] {
  const fields = Object.entries(add).flatMap(([name, path]): [string, JsonValue][] => {
    const [found] = isText(path) ? [] : matchPath(body, withKeys(path, keys));
    return found?.value === undefined ? [] : [[name, found.value]];
  });
  const last = keys.at(-1);
  return key === undefined || shape === 'map' || last === undefined ? fields : [...fields, [key, last]];
}

/** Whether a field of `add` is a text, not a path in the response. */
export const isText = (added: string): boolean => added !== '' && !added.startsWith('/');

function itemsOf(shape: RecordShape, { value }: Match, body: JsonValue, lenient: boolean): DataRecord[] | undefined {
  switch (shape.shape) {
    case 'object':
      return isRecord(value) ? [value] : undefined;
    case 'map': {
      if (!isRecord(value)) return undefined;
      const { key } = shape;
      return Object.entries(value).map(([name, item]) => ({
        ...toRecord(item),
        ...(key !== undefined && { [key]: name }),
      }));
    }
    case 'any':
      return isList(value) ? value.map(toRecord) : isRecord(value) ? [value] : undefined;
    case 'rows':
      return isList(value) ? rowsOf(columnsOf(shape, body), value) : undefined;
    default:
      if (isList(value)) return value.map(toRecord);
      return lenient ? [toRecord(value)] : undefined;
  }
}

/** Returns the names of the columns, from the definition or the response. */
function columnsOf({ columns }: RecordShape, body: JsonValue): string[] {
  if (typeof columns !== 'string') return [...(columns ?? [])];
  return matchPath(body, columns)
    .flatMap(({ value }): readonly JsonValue[] => (isList(value) ? value : [value ?? null]))
    .map((name) => (typeof name === 'string' ? name : JSON.stringify(name)));
}

const rowsOf = (columns: readonly string[], rows: readonly JsonValue[]): DataRecord[] =>
  rows.map((row) =>
    isList(row)
      ? Object.fromEntries(row.map((cell, index) => [columns[index] ?? `column_${index + 1}`, cell]))
      : toRecord(row),
  );

const toRecord = (item: JsonValue | undefined): DataRecord => (isRecord(item) ? item : { value: plain(item) });

const plain = (item: JsonValue | undefined): string | number | boolean | null =>
  typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean'
    ? item
    : JSON.stringify(item ?? null);
