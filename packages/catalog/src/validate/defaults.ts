import type { ConnectorConfig, ConnectorConfigSchema, FieldSchema, ObjectSchema } from '../types.js';
import { isEmpty, isPlain, own, type Plain } from './objects.js';
import { chosenOf, discriminatorOf, isGroup, isUnion } from './schema.js';

const fillGroup = (schema: ObjectSchema, value: unknown): Plain => {
  const filled: Plain = isPlain(value) ? { ...value } : {};
  for (const [key, field] of Object.entries(schema.properties)) {
    const next = initialValue(field, own(value, key));
    if (next !== undefined) filled[key] = next;
  }
  return filled;
};

/**
 * What a field holds before anyone typed: its default, or, for a group or a union, those inside it; undefined when there is
 * none. With `value`, what is there stays and only what is missing is filled. Lists start empty; call this with a list's
 * `items` for a new row, and with a variant's body for a choice just made.
 */
export function initialValue(schema: FieldSchema, value?: unknown): unknown {
  if (isGroup(schema)) {
    if (!isEmpty(value) && !isPlain(value)) return value;
    const filled = fillGroup(schema, value);
    return isEmpty(filled) ? value : filled;
  }
  if (!isUnion(schema)) return value === undefined && 'default' in schema ? schema.default : value;
  const discriminator = discriminatorOf(schema);
  const start = value === undefined && schema.default !== undefined ? { [discriminator]: schema.default } : value;
  const { key, body } = chosenOf(schema, start) ?? {};
  if (key === undefined || !body || !isPlain(start)) return start;
  const inner = initialValue(body, own(start, key));
  return inner === undefined ? start : { ...start, [key]: inner };
}

/** The configuration with the type's defaults where a setting is missing: a new form's values, and what the service reads into a create. */
export const withDefaults = (schema: ConnectorConfigSchema, config?: Partial<ConnectorConfig>): ConnectorConfig => ({
  settings: fillGroup(schema.settings, config?.settings),
  secrets: { ...config?.secrets },
});
