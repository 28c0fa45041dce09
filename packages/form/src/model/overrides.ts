import type { FieldOverride } from '@connector-frame/core/protocol';

/** The host's words for the fields of one group. */
export interface Overrides {
  /** Those for one field, read from own keys only. */
  of(key: string): FieldOverride | undefined;
}

/**
 * Reads one dictionary of overrides. Its keys join `unused` until a field asks for them: what remains at the end is unknown
 * to the type, and is told to the developer of the host page. `path` names the group there.
 */
export function readOverrides(
  dictionary: Readonly<Record<string, FieldOverride>> = {},
  path: string,
  unused: Set<string>,
): Overrides {
  for (const key of Object.keys(dictionary)) unused.add(`${path}.${key}`);
  return {
    of(key) {
      unused.delete(`${path}.${key}`);
      return Object.hasOwn(dictionary, key) ? dictionary[key] : undefined;
    },
  };
}
