/**
 * Two shapes of one configuration. A person edits a **draft**: a map is a list of rows (it has an order, and a row may still lack its
 * name), a number may be text not finished. The service takes a **config**: a map is an object, a number a number.
 */
import type { FieldSchema } from '@connector-frame/catalog/types';
import { isEmpty, isGroup, isList, isMap, isUnion, joinPointer, variantsOf } from '@connector-frame/catalog/validate';
import { readNumber } from './read-number.js';

/** One row of a map. */
export interface MapRow {
  key: string;
  value: unknown;
}

type Plain = Record<string, unknown>;

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isMapRow = (row: unknown): row is MapRow => isPlain(row) && typeof row['key'] === 'string';

type Leaf = (schema: FieldSchema, value: unknown, path: string) => unknown;

/** A copy in which `leaf` has replaced every map and every single value. What does not fit the schema stays as it is. */
function convert(schema: FieldSchema, value: unknown, path: string, leaf: Leaf): unknown {
  const each = (schemaOf: (key: string) => FieldSchema | undefined): unknown =>
    isPlain(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, inner]) => {
            const rules = schemaOf(key);
            return [key, rules ? convert(rules, inner, joinPointer(path, key), leaf) : inner];
          }),
        )
      : value;
  if (isGroup(schema))
    return each((key) => (Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined));
  if (isUnion(schema)) return each((key) => variantsOf(schema).find((variant) => variant.key === key)?.body);
  if (isList(schema) && Array.isArray(value))
    return value.map((row, index) => convert(schema.items, row, joinPointer(path, index), leaf));
  return leaf(schema, value, path);
}

/** From a config to a draft. */
export const toDraft = (schema: FieldSchema, value: unknown): unknown =>
  convert(schema, value, '', (rules, found) =>
    isMap(rules) && isPlain(found) ? Object.entries(found).map(([key, inner]) => ({ key, value: inner })) : found,
  );

/** From a draft to a config. `cells` learns, for each entry of a map, which cell of the draft its value stands in. */
export const toConfig = (schema: FieldSchema, value: unknown, path: string, cells: Map<string, string>): unknown =>
  convert(schema, value, path, (rules, found, at) => {
    if (isMap(rules) && Array.isArray(found)) {
      const rows = found.filter((row): row is MapRow => isMapRow(row) && !isEmpty(row));
      return Object.fromEntries(
        rows.map(({ key, value: inner }) => {
          const name = key.trim();
          cells.set(
            joinPointer(at, name),
            `${at}/${found.findIndex((row) => isMapRow(row) && row.key.trim() === name)}/value`,
          );
          return [name, inner];
        }),
      );
    }
    const isNumber = rules.type === 'number' || rules.type === 'integer';
    return isNumber && typeof found === 'string' ? (readNumber(found) ?? found) : found;
  });
