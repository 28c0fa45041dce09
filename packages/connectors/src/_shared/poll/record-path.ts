import { joinPointer, parsePointer } from '@connector-frame/catalog/validate';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';

/** A value that a path with wildcards leads to. */
export interface Match {
  value: JsonValue | undefined;
  /** Key or index that each `*` of the path stands for; `undefined`: a single item in place of a list. */
  keys: readonly (string | undefined)[];
}

/**
 * Returns the values at a JSON Pointer in which `*` stands for each item of a list, or each value of
 * an object. Nothing at a wildcard is one match without a value, so that it is noticed.
 *
 * @param lenient one item may stand for a list of one, as in XML
 */
export function matchPath(root: JsonValue, path: string, lenient = false): Match[] {
  let matches: Match[] = [{ value: root, keys: [] }];
  for (const key of parsePointer(path)) {
    matches = matches.flatMap(({ value, keys }): Match[] => {
      if (key !== '*') return [{ value: child(value, key), keys }];
      const items =
        lenient && value !== undefined && !isList(value) ? [[undefined, value] as const] : childrenOf(value);
      return items
        ? items.map(([name, item]) => ({ value: item, keys: [...keys, name] }))
        : [{ value: undefined, keys }];
    });
  }
  return matches;
}

/** Replaces the wildcards of a path by the keys of a match. */
export function withKeys(path: string, keys: Match['keys']): string {
  let used = 0;
  return parsePointer(path).reduce((result, key) => {
    if (key !== '*' || used >= keys.length) return joinPointer(result, key);
    const found = keys[used++];
    return found === undefined ? result : joinPointer(result, found);
  }, '');
}

function child(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (isList(value)) return /^\d{1,6}$/.test(key) ? value[Number(key)] : undefined;
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function childrenOf(value: JsonValue | undefined): [string, JsonValue | undefined][] | undefined {
  if (isList(value)) return value.map((item, index) => [String(index), item]);
  return isRecord(value) ? Object.entries(value) : undefined;
}

export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);
