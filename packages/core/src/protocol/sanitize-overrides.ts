import type { ConfigMetaOverrides, FieldOverride } from './messages.js';
import { isFields, isText, ownFields, type Fields } from './untrusted.js';

/** Levels of `children` and `one_of` below a field. */
const MAX_DEPTH = 8;
/** Overridden fields in all. */
const MAX_NODES = 2_000;

/** Keys that reach a prototype when someone copies them carelessly. */
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Copies `configMetaOverrides` key by known key. What is malformed, too deep or too long is left out; with more than
 * 2,000 fields all of it is. The dictionaries have no prototype, so that looking up `toString` finds nothing.
 */
export function sanitizeOverrides(value: unknown): ConfigMetaOverrides | undefined {
  if (!isFields(value)) return undefined;
  const budget = { nodes: MAX_NODES };
  const overrides: ConfigMetaOverrides = {};
  const given = ownFields(value);
  for (const part of ['settings', 'secrets'] as const) {
    const fields = dictionary(given[part], 1, budget);
    if (fields) overrides[part] = fields;
  }
  return budget.nodes < 0 ? undefined : overrides;
}

function dictionary(
  value: unknown,
  depth: number,
  budget: { nodes: number },
): Record<string, FieldOverride> | undefined {
  if (!isFields(value) || depth > MAX_DEPTH) return undefined;
  const fields: Record<string, FieldOverride> = Object.create(null);
  for (const key of Object.keys(value)) {
    if ((budget.nodes -= 1) < 0) return undefined;
    const field = value[key];
    if (!UNSAFE.has(key) && isFields(field)) fields[key] = override(field, depth, budget);
  }
  return fields;
}

function override(value: Fields, depth: number, budget: { nodes: number }): FieldOverride {
  const given = ownFields(value);
  const field: FieldOverride = texts(given, ['name', 'description', 'placeholder']);
  const children = dictionary(given['children'], depth + 1, budget);
  if (children) field.children = children;
  if (isFields(given['discriminator'])) {
    const discriminator = ownFields(given['discriminator']);
    field.discriminator = texts(discriminator, ['name', 'description']);
    const variants = dictionary(discriminator['one_of'], depth + 1, budget);
    if (variants) field.discriminator.one_of = variants;
  }
  return field;
}

function texts<K extends string>(given: Fields, keys: readonly K[]): { [key in K]?: string } {
  const kept: { [key in K]?: string } = {};
  for (const key of keys) {
    const text = given[key];
    if (isText(text)) kept[key] = text;
  }
  return kept;
}
