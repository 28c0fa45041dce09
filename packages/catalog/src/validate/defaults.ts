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
 * Returns the initial value of a field: its default, or, for a group or union, the defaults inside
 * it; undefined if there are none. With `value`, keeps existing values and fills only missing ones.
 * Lists start empty: call this with a list's `items` for a new row, and with a variant's body for a
 * new choice.
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

/**
 * Returns the configuration with the type's defaults for missing settings: the values of a new
 * form, and what the service stores for a create request.
 *
 * @example
 * ```ts
 * const config = withDefaults(type.config, { settings: { org_url: 'https://acme.okta.com' } });
 * ```
 */
export const withDefaults = (schema: ConnectorConfigSchema, config?: Partial<ConnectorConfig>): ConnectorConfig => ({
  settings: fillGroup(schema.settings, config?.settings),
  secrets: { ...config?.secrets },
});
