import { type DataRecord, type Unreadable, isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../exact-json.js';

/** An item of an object: a record, or content that is not a valid record. */
export type Found = { readonly record: DataRecord } | { readonly unreadable: Unreadable };

/**
 * Parses text incrementally.
 * @throws ContentError if nothing after this point can be parsed reliably
 */
export interface Parser {
  push(text: string): Found[];
  /** Signals the end of the text. */
  end(): Found[];
}

/** Maximum characters of one record, to bound memory. No batch accepts a longer one. */
export const MAX_TEXT = 2 * 1024 * 1024;
/** Maximum characters to keep of unreadable content. */
const KEPT = 2_000;

export const unreadable = (reason: string, text: string): Found => ({
  unreadable: { reason, found: text.length > KEPT ? `${text.slice(0, KEPT)}…` : text },
});

/** Splits `data.records` or `$.data.records` into steps. */
export const pathOf = (location: string | undefined): string[] =>
  (location ?? '').split('.').filter((step) => step !== '' && step !== '$');

/** Returns the records in one JSON document. Traverses arrays on the path. */
export function recordsOf(text: string, path: readonly string[]): Found[] {
  let value: JsonValue;
  try {
    value = parseExact(text);
  } catch {
    return [unreadable('invalid_json', text)];
  }
  let level: readonly JsonValue[] = [value];
  for (const step of path)
    level = level.flatMap((each) =>
      [each].flat().flatMap((item) => (isRecord(item) && Object.hasOwn(item, step) ? (item[step] ?? []) : [])),
    );
  return level.flatMap((each) => [each].flat()).map(found);
}

const found = (value: JsonValue): Found =>
  isRecord(value) ? { record: value } : unreadable('no_json_object', JSON.stringify(value));
