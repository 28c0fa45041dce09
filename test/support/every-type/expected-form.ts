/** What a form must show, told from the type's schema alone. */
import type { ConnectorConfig, ConnectorTypeData, FieldSchema } from '@connector-frame/catalog';
import {
  chosenOf,
  discriminatorOf,
  getAt,
  isGroup,
  isList,
  isMap,
  isShown,
  isUnion,
  joinPointer,
  validateConfig,
  variantsOf,
  withDefaults,
} from '@connector-frame/catalog/validate';

/** One control, by the pointer the form knows it by. */
export interface Leaf {
  /** A row of a list or map is `/0` below it, the halves of a map's row `/0/key` and `/0/value`. */
  path: string;
  /** What the person chooses or types; a list or map is one row more. */
  value: string | boolean | { row: true };
  /** Words of the choice, where there are some. */
  words?: string;
  /** Kind of control. */
  control: string;
}

interface Shown {
  path: string;
  label: string;
  field: FieldSchema;
  value: unknown;
}

function* shownFields({ config: schema }: ConnectorTypeData, config: ConnectorConfig): Generator<Shown> {
  function* visit(key: string, field: FieldSchema, parent: string): Generator<Shown> {
    if (!isShown(field['x-when'], config) || field['x-role'] === 'synthetic-toggle') return;
    const path = joinPointer(parent, key);
    const value = getAt(config, path);
    const label = field.title ?? key;
    if (isUnion(field)) {
      const choice = joinPointer(path, discriminatorOf(field));
      yield { path: choice, label, field, value: getAt(config, choice) };
      const chosen = chosenOf(field, value);
      if (chosen?.key !== undefined && chosen.body)
        yield* inside(chosen.body.properties, joinPointer(path, chosen.key));
      return;
    }
    yield { path, label, field, value };
    if (isGroup(field)) yield* inside(field.properties, path);
    if (isList(field) && isGroup(field.items) && Array.isArray(value))
      for (const row of value.keys()) yield* inside(field.items.properties, joinPointer(path, row));
  }
  function* inside(fields: Readonly<Record<string, FieldSchema>>, parent: string): Generator<Shown> {
    for (const [key, field] of Object.entries(fields)) yield* visit(key, field, parent);
  }
  yield* inside(schema.settings.properties, '/settings');
  yield* inside(schema.secrets.properties, '/secrets');
}

/** The label of each field that is shown, by pointer. */
export const labelsOf = (type: ConnectorTypeData, config: ConnectorConfig): Record<string, string> =>
  Object.fromEntries(Array.from(shownFields(type, config), ({ path, label }) => [path, label]));

/** What a form that nobody filled in asks for, by the pointer of the control. */
export function askedFor(type: ConnectorTypeData): string[] {
  const empty = withDefaults(type.config);
  const choices = Array.from(shownFields(type, empty)).filter(({ field }) => isUnion(field));
  return validateConfig(type.config, empty).map(({ path }) => {
    const choice = choices.find((each) => each.path.slice(0, each.path.lastIndexOf('/')) === path);
    return choice?.path ?? path;
  });
}

/** What a person does to fill in a configuration: choices first, where they stand, so that what they bring is there. */
export function leavesOf(type: ConnectorTypeData, config: ConnectorConfig): Leaf[] {
  return Array.from(shownFields(type, config)).flatMap(({ path, field, value }): Leaf[] => {
    if (value === undefined || (isGroup(field) && !isMap(field))) return [];
    const control = `${'writeOnly' in field ? 'secret ' : ''}${kindOf(field)}`;
    if (isMap(field))
      return Object.entries(Object(value)).flatMap(([key, part], row): Leaf[] => [
        { path, value: { row: true }, control },
        { path: `${path}/${row}/key`, value: key, control },
        { path: `${path}/${row}/value`, value: String(part), control },
      ]);
    if (isList(field) && Array.isArray(value))
      return value.flatMap((part: unknown, row): Leaf[] => [
        { path, value: { row: true }, control },
        ...(isGroup(field.items) ? [] : [{ path: `${path}/${row}`, value: String(part), control }]),
      ]);
    if (typeof value === 'boolean') return [{ path, value, control }];
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string') throw new Error(`${path} has no text`);
    const words = wordsOf(field, text);
    return [{ path, value: text, control, ...(words !== undefined && { words }) }];
  });
}

/** Name of a field's kind. */
export function kindOf(field: FieldSchema): string {
  if (isUnion(field)) return 'variants';
  if (isList(field)) return isGroup(field.items) ? 'list of objects' : 'list';
  if (isMap(field)) return 'map';
  if (field.type !== 'string') return isGroup(field) ? 'group' : field.type;
  return field.enum ? 'choice' : (field.format ?? 'text');
}

function wordsOf(field: FieldSchema, value: string): string | undefined {
  if (isUnion(field)) return variantsOf(field).find((variant) => variant.value === value)?.title;
  return field.type === 'string' && field.enum ? (field['x-labels']?.[value] ?? value) : undefined;
}

/** Leaves of `after` that are not the same in `before`. */
export function changesBetween(type: ConnectorTypeData, before: ConnectorConfig, after: ConnectorConfig): Leaf[] {
  const settings = (leaves: Leaf[]) => leaves.filter(({ path }) => path.startsWith('/settings'));
  const old = new Map(settings(leavesOf(type, before)).map(({ path, value }) => [path, value]));
  return settings(leavesOf(type, after)).filter(({ path, value }) =>
    typeof value === 'object' ? !old.has(path) : old.get(path) !== value,
  );
}
