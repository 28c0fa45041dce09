/** Computes what a form must show, from the type's schema alone. */
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

/** One control of the form. */
export interface Leaf {
  /**
   * JSON Pointer of the control in the form. A row of a list or map appends `/0`, and a map row's
   * key and value append `/0/key` and `/0/value`.
   */
  path: string;
  /** The value to choose or type; `{ row: true }` adds a row to a list or map. */
  value: string | boolean | { row: true };
  /** Label of the choice, if it has one. */
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

/** Returns the label of each visible field, by pointer. */
export const labelsOf = (type: ConnectorTypeData, config: ConnectorConfig): Record<string, string> =>
  Object.fromEntries(Array.from(shownFields(type, config), ({ path, label }) => [path, label]));

/** Returns the pointers of the controls that an empty form reports as required. */
export function requiredPointers(type: ConnectorTypeData): string[] {
  const empty = withDefaults(type.config);
  const choices = Array.from(shownFields(type, empty)).filter(({ field }) => isUnion(field));
  return validateConfig(type.config, empty).map(({ path }) => {
    const choice = choices.find((each) => each.path.slice(0, each.path.lastIndexOf('/')) === path);
    return choice?.path ?? path;
  });
}

/**
 * Returns the inputs that fill in a configuration, in form order, so that a choice precedes the
 * fields it reveals.
 */
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

/** Returns the name of a field's kind. */
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

/** Returns the settings leaves of `after` that differ from `before`. */
export function changesBetween(type: ConnectorTypeData, before: ConnectorConfig, after: ConnectorConfig): Leaf[] {
  const settings = (leaves: Leaf[]) => leaves.filter(({ path }) => path.startsWith('/settings'));
  const old = new Map(settings(leavesOf(type, before)).map(({ path, value }) => [path, value]));
  return settings(leavesOf(type, after)).filter(({ path, value }) =>
    typeof value === 'object' ? !old.has(path) : old.get(path) !== value,
  );
}
