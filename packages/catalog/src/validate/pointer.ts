import { isPlain, isSafeKey, own, type Plain } from './objects.js';

/** `/settings/headers/0` -> `['settings', 'headers', '0']`. */
export const parsePointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Returns the pointer of a child. */
export const joinPointer = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Returns the value at a JSON Pointer, from own properties only, or undefined if there is none. */
export const getAt = (root: unknown, pointer: string): unknown =>
  parsePointer(pointer).reduce<unknown>((value, key) => own(value, key), root);

const isIndex = (key: string): boolean => /^(0|[1-9]\d{0,5})$/.test(key);

function assign(parent: unknown, keys: readonly string[], value: unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (!isSafeKey(key)) return parent;
  if (Array.isArray(parent) || (parent === undefined && isIndex(key))) {
    const rows: unknown[] = Array.isArray(parent) ? [...parent] : [];
    const index = Number(key);
    if (!isIndex(key) || index > rows.length) return parent;
    const next = assign(rows[index], rest, value);
    if (next === undefined) rows.splice(index, 1);
    else rows[index] = next;
    return rows;
  }
  const copy: Plain = isPlain(parent) ? { ...parent } : {};
  const next = assign(own(parent, key), rest, value);
  if (next === undefined) delete copy[key];
  else copy[key] = next;
  return copy;
}

/**
 * Returns a copy of `root`, an object, with the value at a JSON Pointer replaced. `undefined`
 * removes the value; later list items move up. Missing parents are created: a list if the next key
 * is an index, otherwise an object. A pointer that contains `__proto__`, `constructor` or
 * `prototype`, or an index beyond the end of a list, changes nothing.
 */
export function setAt<T extends object>(root: T, pointer: string, value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a copy of an object has its type
  return assign(root, parsePointer(pointer), value) as T;
}
