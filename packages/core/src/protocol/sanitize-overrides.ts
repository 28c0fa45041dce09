import type { ConfigMetaOverrides, FieldMetaOverride } from './messages.js';
import { fieldsOf, pickStrings } from './untrusted.js';

/** Maximum depth of `children` and `one_of`. */
const MAX_DEPTH = 8;
/** Maximum number of overridden fields. */
const MAX_NODES = 2_000;

/** Keys that would change a prototype if code copied them without care. */
const UNSAFE = /^(__proto__|constructor|prototype)$/;

/**
 * Copies the known keys of `configMetaOverrides`. Drops values that are invalid, too deep or too
 * long; with more than 2,000 fields, drops everything. The dictionaries have no prototype: a field
 * named `toString` has no override unless one was sent.
 */
export function sanitizeOverrides(value: unknown): ConfigMetaOverrides | undefined {
  let nodes = MAX_NODES;

  function dictionary(value: unknown, depth: number): Record<string, FieldMetaOverride> | undefined {
    const input = fieldsOf(value);
    if (!input || depth > MAX_DEPTH) return undefined;
    const fields: Record<string, FieldMetaOverride> = Object.create(null);
    for (const key in input) {
      if ((nodes -= 1) < 0) return undefined;
      const field = fieldsOf(input[key]);
      if (!field || UNSAFE.test(key)) continue;
      const override: FieldMetaOverride = pickStrings(field, ['name', 'description', 'placeholder']);
      const children = dictionary(field['children'], depth + 1);
      if (children) override.children = children;
      const union = fieldsOf(field['discriminator']);
      if (union) {
        override.discriminator = pickStrings(union, ['name', 'description']);
        const variants = dictionary(union['one_of'], depth + 1);
        if (variants) override.discriminator.one_of = variants;
      }
      fields[key] = override;
    }
    return fields;
  }

  const input = fieldsOf(value);
  if (!input) return undefined;
  const overrides: ConfigMetaOverrides = {};
  for (const part of ['settings', 'secrets'] as const) {
    const fields = dictionary(input[part], 1);
    if (fields) overrides[part] = fields;
  }
  return nodes < 0 ? undefined : overrides;
}
