import type {
  ArraySchema,
  FieldSchema,
  MapSchema,
  ObjectSchema,
  StringFormat,
  StringSchema,
  UnionSchema,
} from '@connector-frame/catalog/types';
import {
  discriminatorOf,
  isGroup,
  isList,
  isMap,
  isUnion,
  joinPointer,
  variantsOf,
} from '@connector-frame/catalog/validate';
import type { FieldOverride } from '@connector-frame/core/protocol';
import type { BooleanField, Field, MultilineField, SecretField, TextField, VariantsField } from './field.js';
import { labelOfKey } from './label-of-key.js';
import { readOverrides } from './overrides.js';

export interface BuildContext {
  /** Whether the host asked for synthetic data. */
  synthetic: boolean;
  /** Override keys that no field has asked for yet. */
  unused: Set<string>;
}

type Base = Omit<BooleanField, 'kind'>;

/** The words of a field: the host's where it gives some, else the type's. An empty name is ignored; another empty text blanks. */
function wordsOf(
  schema: FieldSchema,
  key: string,
  override: FieldOverride = {},
): Pick<Base, 'label' | 'help' | 'placeholder'> {
  const { discriminator } = override;
  const label = discriminator?.name?.trim() || override.name?.trim() || schema.title || labelOfKey(key);
  const help = discriminator?.description ?? override.description ?? schema.description;
  const placeholder = override.placeholder ?? schema.examples?.[0];
  return { label, ...(help && { help }), ...(placeholder && { placeholder }) };
}

const pick = <T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> =>
  Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]])) as Pick<T, K>;

const isLong = (format: StringFormat | undefined): format is MultilineField['format'] =>
  format === 'multiline' || format === 'json' || format === 'pem';

function textField(base: Base, schema: StringSchema): TextField {
  const { format } = schema;
  return { ...base, kind: 'text', ...(format && !isLong(format) && { format }), ...pick(schema, 'maxLength') };
}

function fromString(base: Base, schema: StringSchema): Field {
  const { format } = schema;
  if (schema.enum) {
    const labels = schema['x-labels'] ?? {};
    const labelOf = (value: string): string => (Object.hasOwn(labels, value) && labels[value]) || value;
    return { ...base, kind: 'enum', options: schema.enum.map((value) => ({ value, label: labelOf(value) })) };
  }
  if (isLong(format)) return { ...base, kind: 'multiline', format, ...pick(schema, 'maxLength') };
  if (format === 'date-time') return { ...base, kind: format };
  return format === 'cron' ? { ...base, kind: format } : textField(base, schema);
}

function secretShape(schema: StringSchema | MapSchema): SecretField['shape'] {
  if (schema.type === 'object') return 'map';
  return isLong(schema.format) ? schema.format : 'line';
}

/** Where a field stands, and what the host says about it. */
interface Place {
  key: string;
  /** Its pointer, or, inside a list's row, the pointer from the row. */
  path: string;
  /** What the report of unknown overrides calls it. */
  name: string;
  required: boolean;
  override: FieldOverride | undefined;
}

function buildField(schema: FieldSchema, { key, path, name, required, override }: Place, context: BuildContext): Field {
  const when = schema['x-when'];
  const base: Base = {
    path,
    key,
    ...wordsOf(schema, key, override),
    required: required || when?.required === true,
    advanced: schema['x-advanced'] === true,
    deprecated: schema.deprecated === true,
    destination: schema['x-destination'] === true,
    ...(when && { when }),
  };
  const children = (group: ObjectSchema, parent: string): Field[] =>
    buildGroup(group, parent, name, override?.children, context);

  if (isGroup(schema)) return { ...base, kind: 'group', fields: children(schema, path) };
  if (isList(schema) && schema.items.type === 'object')
    return {
      ...base,
      kind: 'object-list',
      columns: children(schema.items, ''),
      ...pick(schema, 'minItems', 'maxItems'),
    };

  // No other field has children: a host's words for some are reported, not swallowed.
  readOverrides(override?.children, name, context.unused);
  if ('writeOnly' in schema)
    return {
      ...base,
      kind: 'secret',
      shape: secretShape(schema),
      ...('maxLength' in schema && pick(schema, 'maxLength')),
    };
  if (isUnion(schema)) return fromUnion(base, schema, name, override, context);
  if (isMap(schema)) {
    const { maxProperties } = schema;
    return { ...base, kind: 'map', ...(maxProperties !== undefined && { maxItems: maxProperties }) };
  }
  if (isList(schema)) return fromTextList(base, schema);
  if (schema.type === 'boolean') return { ...base, kind: 'boolean' };
  if (schema.type === 'string') return fromString(base, schema);
  const unit = schema['x-unit'];
  const integer = schema.type === 'integer';
  return { ...base, kind: 'number', integer, ...pick(schema, 'minimum', 'maximum'), ...(unit && { unit }) };
}

function fromTextList(base: Base, schema: ArraySchema): Field {
  const limits = pick(schema, 'minItems', 'maxItems');
  const row: Base = { ...base, path: '', key: '', label: schema.items.title ?? base.label, required: false };
  const rules: StringSchema = schema.items.type === 'string' ? schema.items : { type: 'string' };
  return { ...base, kind: 'string-list', item: textField(row, rules), ...limits };
}

function fromUnion(
  base: Base,
  schema: UnionSchema,
  name: string,
  override: FieldOverride | undefined,
  context: BuildContext,
): VariantsField {
  const overrides = readOverrides(override?.discriminator?.one_of, name, context.unused);
  const variants = variantsOf(schema).map(({ value, title, description, key = '', body }) => {
    const words = overrides.of(value);
    const help = words?.description ?? description;
    const inner = `${name}.${value}`;
    const fields = body ? buildGroup(body, joinPointer(base.path, key), inner, words?.children, context) : [];
    return { value, label: words?.name?.trim() || title, ...(help && { help }), fields };
  });
  return { ...base, kind: 'variants', discriminator: discriminatorOf(schema), variants };
}

/** The fields of a group, in the order declared. `name` is what the report of unknown overrides calls it. */
export function buildGroup(
  group: Pick<ObjectSchema, 'properties' | 'required'>,
  parent: string,
  name: string,
  dictionary: Readonly<Record<string, FieldOverride>> | undefined,
  context: BuildContext,
): Field[] {
  const overrides = readOverrides(dictionary, name, context.unused);
  return Object.entries(group.properties).flatMap(([key, schema]) => {
    const override = overrides.of(key);
    if (schema['x-role'] === 'synthetic-toggle' && !context.synthetic) return [];
    const required = group.required?.includes(key) === true;
    return [
      buildField(schema, { key, path: joinPointer(parent, key), name: `${name}.${key}`, required, override }, context),
    ];
  });
}
