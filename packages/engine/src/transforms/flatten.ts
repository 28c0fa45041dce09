import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import { TransformRejection } from './transform-rejection.js';

/** Maximum number of keys of a flattened record. */
const MAX_KEYS = 10_000;

/** Returns the leaves of a value, each keyed by its path joined with `delimiter`. */
export function leavesOf(
  base: string,
  value: JsonValue | undefined,
  delimiter: string,
): Map<string, JsonValue | undefined> {
  const leaves = new Map<string, JsonValue | undefined>();
  const walk = (name: string, at: JsonValue | undefined): void => {
    const children = childrenOf(at);
    if (!children) {
      if (leaves.has(name)) throw new TransformRejection('key_taken', `Two values would be called ${name}.`);
      if (leaves.size === MAX_KEYS) throw new TransformRejection('too_large', `More than ${MAX_KEYS} keys.`);
      leaves.set(name, at);
      return;
    }
    for (const [key, child] of children) walk(name === '' ? key : `${name}${delimiter}${key}`, child);
  };
  walk(base, value);
  return leaves;
}

/**
 * Flattens a record to its leaves.
 * @throws {TransformRejection} if two of them would have the same key
 */
export const flattenRecord = (record: DataRecord, delimiter: string): DataRecord =>
  Object.keys(record).length === 0 ? record : Object.fromEntries(leavesOf('', record, delimiter));

function childrenOf(value: JsonValue | undefined): [string, JsonValue | undefined][] | undefined {
  const children = Array.isArray(value) || isRecord(value) ? Object.entries(value) : [];
  return children.length > 0 ? children : undefined;
}
