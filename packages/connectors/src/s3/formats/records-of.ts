import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../../_shared/exact-json.js';
import { unreadable, type Found } from './parser.js';

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
