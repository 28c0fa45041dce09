import type { ConfigMetaOverrides, FieldOverride } from './messages.js';
import { fieldsOf, texts } from './untrusted.js';

/** Levels of `children` and `one_of` below a field. */
const MAX_DEPTH = 8;
/** Overridden fields in all. */
const MAX_NODES = 2_000;

/** Keys that reach a prototype when someone copies them carelessly. */
const UNSAFE = /^(__proto__|constructor|prototype)$/;

/**
 * Copies `configMetaOverrides` key by known key. What is malformed, too deep or too long is left out; with more than
 * 2,000 fields all of it is. The dictionaries have no prototype, so that looking up `toString` finds nothing.
 */
export function sanitizeOverrides(value: unknown): ConfigMetaOverrides | undefined {
  let nodes = MAX_NODES;

  function dictionary(value: unknown, depth: number): Record<string, FieldOverride> | undefined {
    const given = fieldsOf(value);
    if (!given || depth > MAX_DEPTH) return undefined;
    const fields: Record<string, FieldOverride> = Object.create(null);
    for (const key in given) {
      if ((nodes -= 1) < 0) return undefined;
      const field = fieldsOf(given[key]);
      if (!field || UNSAFE.test(key)) continue;
      const override: FieldOverride = texts(field, ['name', 'description', 'placeholder']);
      const children = dictionary(field['children'], depth + 1);
      if (children) override.children = children;
      const union = fieldsOf(field['discriminator']);
      if (union) {
        override.discriminator = texts(union, ['name', 'description']);
        const variants = dictionary(union['one_of'], depth + 1);
        if (variants) override.discriminator.one_of = variants;
      }
      fields[key] = override;
    }
    return fields;
  }

  const given = fieldsOf(value);
  if (!given) return undefined;
  const overrides: ConfigMetaOverrides = {};
  for (const part of ['settings', 'secrets'] as const) {
    const fields = dictionary(given[part], 1);
    if (fields) overrides[part] = fields;
  }
  return nodes < 0 ? undefined : overrides;
}
