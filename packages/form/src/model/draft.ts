/**
 * Two shapes of one connector. A person edits a **draft**: a map is a list of rows (it has an order, and a row may still lack its
 * name), a number may be text not finished. The service takes a **config**: a map is an object, a number a number.
 */
import type { ConnectorConfig, ConnectorConfigSchema, FieldSchema } from '@connector-frame/catalog/types';
import {
  chosenOf,
  getAt,
  initialValue,
  isGroup,
  isList,
  isMap,
  isPlain,
  isUnion,
  joinPointer,
  setAt,
  variantsOf,
  withDefaults,
} from '@connector-frame/catalog/validate';
import { schemaOf } from './build-fields.js';
import type { Field, VariantsField } from './field.js';
import { readNumber } from './normalize.js';

type Plain = Record<string, unknown>;

/** What a person edits; the form's pointers go into it. */
export interface Draft {
  name: string;
  description: string;
  settings: Plain;
  secrets: Plain;
}

/** One row of a map. */
export interface MapRow {
  key: string;
  value: unknown;
}

const plain = (value: unknown): Plain => (isPlain(value) ? value : {});

export const isMapRow = (row: unknown): row is MapRow => isPlain(row) && typeof row['key'] === 'string';

type Leaf = (schema: FieldSchema, value: unknown, path: string) => unknown;

/** A copy in which `leaf` has replaced every map and every single value. What does not fit the schema stays as it is. */
function convert(schema: FieldSchema, value: unknown, path: string, leaf: Leaf): unknown {
  if (isList(schema) && Array.isArray(value))
    return value.map((row, index) => convert(schema.items, row, joinPointer(path, index), leaf));
  const inner = isGroup(schema)
    ? new Map(Object.entries(schema.properties))
    : isUnion(schema) && new Map(variantsOf(schema).map(({ key, body }) => [key ?? '', body]));
  if (!inner || !isPlain(value)) return leaf(schema, value, path);
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const rules = inner.get(key);
      return [key, rules ? convert(rules, part, joinPointer(path, key), leaf) : part];
    }),
  );
}

const toDraft = (schema: FieldSchema, value: unknown): unknown =>
  convert(schema, value, '', (rules, found) =>
    isMap(rules) && isPlain(found) ? Object.entries(found).map(([key, part]) => ({ key, value: part })) : found,
  );

/** The settings of a new connector, or of a saved one. A saved one gets no defaults: what a person took out stays out. */
export const settingsDraft = (schema: ConnectorConfigSchema, saved?: Plain): Plain =>
  plain(toDraft(schema.settings, saved ?? withDefaults(schema).settings));

/** One more row of a list or map. */
export function newRow(field: Field): unknown {
  if (field.kind === 'string-list') return '';
  const schema = schemaOf(field);
  return schema && isList(schema) ? (initialValue(schema.items) ?? {}) : { key: '', value: '' };
}

/** The draft after a choice was made: the chosen body has its defaults where nothing was typed into it. */
export function withChoice(draft: Draft, field: VariantsField): Draft {
  const schema = schemaOf(field);
  const chosen = schema && isUnion(schema) ? chosenOf(schema, getAt(draft, field.path)) : undefined;
  if (!chosen?.body) return draft;
  const at = joinPointer(field.path, chosen.key ?? '');
  return setAt(draft, at, getAt(draft, at) ?? toDraft(chosen.body, initialValue(chosen.body)));
}

/**
 * The draft as a config, and where each entry of a map stands in the draft. Secrets are those in `typed`: what else a secret's
 * control held is none of the service's business.
 */
export function configOf(
  schema: ConnectorConfigSchema,
  { settings, secrets }: Draft,
  typed: (key: string) => boolean,
): { config: ConnectorConfig; cells: Map<string, string> } {
  const cells = new Map<string, string>();
  const toConfig: Leaf = (rules, found, path) => {
    if (isMap(rules) && Array.isArray(found)) {
      const entries = found.flatMap((row: unknown, index): [string, unknown][] => {
        const key = isMapRow(row) ? row.key.trim() : '';
        // A value without a name can not be said here; the form asks for the name.
        if (!isMapRow(row) || key === '') return [];
        cells.set(joinPointer(path, key), `${path}/${index}/value`);
        return [[key, row.value]];
      });
      return Object.fromEntries(entries);
    }
    const isNumber = rules.type === 'number' || rules.type === 'integer';
    return isNumber && typeof found === 'string' ? (readNumber(found) ?? found) : found;
  };
  const sent = Object.fromEntries(Object.entries(secrets).filter(([key]) => typed(key)));
  const root: FieldSchema = { ...schema.secrets, required: [] };
  return {
    config: {
      settings: plain(convert(schema.settings, settings, '/settings', toConfig)),
      secrets: plain(convert(root, sent, '/secrets', toConfig)),
    },
    cells,
  };
}
