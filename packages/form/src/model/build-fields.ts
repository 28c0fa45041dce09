import type { FieldSchema, ObjectSchema, StringFormat } from '@connector-frame/catalog/types';
import {
  discriminatorOf,
  isGroup,
  isList,
  isMap,
  isUnion,
  joinPointer,
  variantsOf,
} from '@connector-frame/catalog/validate';
import type { ConfigMetaOverrides, FieldMetaOverride } from '@connector-frame/core/protocol';
import type { BooleanField, Field, MultilineField, TextField } from './field.js';
import type { ConnectorType } from './wire.js';

type Base = Omit<BooleanField, 'kind'>;
type Dictionary = Readonly<Record<string, FieldMetaOverride>>;

const schemas = new WeakMap<Field, FieldSchema>();

/** Returns the schema from which a field was built. */
export const schemaOf = (field: Field): FieldSchema | undefined => schemas.get(field);

const isLong = (format: StringFormat | undefined): format is MultilineField['format'] =>
  format === 'multiline' || format === 'json' || format === 'pem';

/**
 * Copies the numeric properties of a schema. They include its bounds, which have the same names in
 * a field.
 */
const bounds = (
  schema: FieldSchema,
): Partial<Record<'maxLength' | 'minimum' | 'maximum' | 'minItems' | 'maxItems', number>> =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => typeof value === 'number'));

function text(schema: FieldSchema, base: Base): TextField {
  const format = schema.type === 'string' ? schema.format : undefined;
  return { ...bounds(schema), ...base, kind: 'text', ...(format && !isLong(format) && { format }) };
}

/**
 * Builds the form's fields from a type, in this order: the connector's `own` fields, fields named
 * in `order`, required settings, secrets, optional settings. Returns advanced fields separately.
 * Overrides change texts only; whether a field is a secret depends on the schema alone.
 *
 * @param synthetic whether to include the toggle for synthetic data
 * @param warn called with the override keys that match no field, as text
 * @param own schemas of the connector's own fields, such as its name
 */
export function buildFields(
  { config, order = [] }: Pick<ConnectorType, 'config' | 'order'>,
  overrides: ConfigMetaOverrides = {},
  synthetic = false,
  warn: (keys: string) => void = () => undefined,
  own: ObjectSchema['properties'] = {},
): { fields: Field[]; advanced: Field[] } {
  /** Override keys that match no field. */
  const unused = new Set<string>();

  /** Returns a lookup into the host's overrides for the group `name`. */
  function read(dictionary: Dictionary = {}, name: string): (key: string) => FieldMetaOverride | undefined {
    for (const key of Object.keys(dictionary)) unused.add(`${name}.${key}`);
    return (key) => {
      unused.delete(`${name}.${key}`);
      return Object.hasOwn(dictionary, key) ? dictionary[key] : undefined;
    };
  }

  function group(
    rules: Pick<ObjectSchema, 'properties' | 'required'>,
    parent: string,
    name: string,
    overrides: Dictionary | undefined,
  ): Field[] {
    const overrideOf = read(overrides, name);
    return Object.entries(rules.properties).flatMap(([key, schema]) => {
      const override = overrideOf(key);
      if (schema['x-role'] === 'synthetic-toggle' && !synthetic) return [];
      const when = schema['x-when'];
      const help = override?.discriminator?.description ?? override?.description ?? schema.description;
      const placeholder = override?.placeholder ?? schema.examples?.[0];
      const base: Base = {
        path: joinPointer(parent, key),
        key,
        label: override?.discriminator?.name?.trim() || override?.name?.trim() || schema.title || key,
        ...(help && { help }),
        ...(placeholder && { placeholder }),
        required: when?.required === true || rules.required?.includes(key) === true,
        advanced: schema['x-advanced'] === true,
        deprecated: schema.deprecated === true,
        destination: schema['x-destination'] === true,
        ...(schema.type === 'string' && schema['x-local'] === true && { local: true }),
        ...(when && { when }),
      };
      const made = field(schema, base, `${name}.${key}`, override);
      schemas.set(made, schema);
      return [made];
    });
  }

  function field(schema: FieldSchema, base: Base, name: string, override: FieldMetaOverride | undefined): Field {
    const { path } = base;
    const rules = bounds(schema);
    const children = override?.children;
    if (isGroup(schema)) return { ...base, kind: 'group', fields: group(schema, path, name, children) };
    if (isList(schema) && schema.items.type === 'object')
      return { ...base, ...rules, kind: 'object-list', columns: group(schema.items, '', name, children) };

    // No other kind has children: report overrides for them instead of ignoring them.
    read(children, name);
    if ('writeOnly' in schema) {
      const long = schema.type === 'string' && isLong(schema.format) && schema.format;
      return { ...base, ...rules, kind: 'secret', shape: schema.type === 'object' ? 'map' : long || 'line' };
    }
    if (isUnion(schema)) {
      const overrideOf = read(override?.discriminator?.one_of, name);
      const variants = variantsOf(schema).map(({ value, title, description, key = '', body }) => {
        const variantOverride = overrideOf(value);
        const help = variantOverride?.description ?? description;
        return {
          value,
          label: variantOverride?.name?.trim() || title,
          ...(help && { help }),
          fields: body ? group(body, joinPointer(path, key), `${name}.${value}`, variantOverride?.children) : [],
        };
      });
      return { ...base, kind: 'variants', discriminator: discriminatorOf(schema), variants, initial: schema.default };
    }
    if (isMap(schema)) return { ...base, kind: 'map', maxItems: schema.maxProperties ?? Infinity };
    if (isList(schema)) {
      const { items } = schema;
      const row = { ...base, path: '', key: '', label: items.title ?? base.label, required: false };
      return { ...base, ...rules, kind: 'string-list', item: text(items, row) };
    }
    if (schema.type === 'boolean') return { ...base, kind: 'boolean' };
    if (schema.type !== 'string') {
      const unit = schema['x-unit'];
      return { ...base, ...rules, kind: 'number', integer: schema.type === 'integer', ...(unit && { unit }) };
    }
    const { format, enum: values } = schema;
    if (values) {
      const labels = new Map(Object.entries(schema['x-labels'] ?? {}));
      return { ...base, kind: 'enum', options: values.map((value) => ({ value, label: labels.get(value) || value })) };
    }
    if (isLong(format)) return { ...base, ...rules, kind: 'multiline', format };
    if (format === 'date-time') return { ...base, kind: format };
    return format === 'cron' ? { ...base, kind: format } : text(schema, base);
  }

  const ours = group({ properties: own, required: ['name'] }, '', '', undefined);
  const settings = group(config.settings, '/settings', 'settings', overrides.settings);
  const secrets = group(config.secrets, '/secrets', 'secrets', overrides.secrets);
  if (unused.size > 0) warn([...unused].join(', '));

  const rank = ({ path, required }: Field): number => {
    const named = order.indexOf(path);
    if (named >= 0) return named;
    return order.length + (path.startsWith('/secrets') ? 1 : required ? 0 : 2);
  };
  const all = [...settings, ...secrets].toSorted((a, b) => rank(a) - rank(b));
  return {
    fields: [...ours, ...all.filter(({ advanced }) => !advanced)],
    advanced: all.filter(({ advanced }) => advanced),
  };
}
