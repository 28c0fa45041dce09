type Json = Record<string, unknown>;

/**
 * Merges a sparse difference into settings, as RFC 7396 (JSON Merge Patch) defines it: objects are
 * merged, null removes a member, and anything else, also a list, replaces what was there.
 *
 * @example
 * mergePatch({ batch: { size: 10, seconds: 5 }, tags: ['a'] }, { batch: { size: 20 }, tags: null });
 * // { batch: { size: 20, seconds: 5 } }
 */
export function mergePatch(target: Readonly<Json>, patch: Readonly<Json>): Json {
  // A map, because assigning to `__proto__` would not add a member.
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    const before = merged.get(name);
    if (value === null) merged.delete(name);
    else merged.set(name, isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
