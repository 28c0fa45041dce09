/**
 * Two representations of a connector. The user edits a **draft**: a map is a list of rows (ordered,
 * and a row may not have a name yet), and a number may be unfinished text. The service accepts a
 * **config**: a map is an object, and a number is a number.
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

/** The values that the user edits, addressed by the form's JSON Pointers. */
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

/**
 * Returns a copy in which `leaf` has converted every map and every scalar value. Properties that
 * are not in the schema are copied unchanged.
 */
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

/**
 * Returns the draft settings of a new or a saved connector. Absent settings have their defaults, as
 * they have when the connector runs.
 */
export const settingsDraft = (schema: ConnectorConfigSchema, saved?: Plain): Plain =>
  plain(toDraft(schema.settings, withDefaults(schema, { settings: saved ?? {} }).settings));

/** Creates a row for a list or map. */
export function newRow(field: Field): unknown {
  if (field.kind === 'string-list') return '';
  const schema = schemaOf(field);
  return schema && isList(schema) ? (initialValue(schema.items) ?? {}) : { key: '', value: '' };
}

/**
 * Returns the draft after a variant was selected. The variant's body gets its defaults unless it
 * already has values.
 */
export function withChoice(draft: Draft, field: VariantsField): Draft {
  const schema = schemaOf(field);
  const chosen = schema && isUnion(schema) ? chosenOf(schema, getAt(draft, field.path)) : undefined;
  if (!chosen?.body) return draft;
  const at = joinPointer(field.path, chosen.key ?? '');
  return setAt(draft, at, getAt(draft, at) ?? toDraft(chosen.body, initialValue(chosen.body)));
}

/**
 * Converts a draft to a config. Also returns `cells`: the draft path of each map entry, by its
 * config path.
 *
 * @param typed returns whether to send the secret with this key; other contents of secret controls
 *   are omitted
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
        // A config cannot represent a value without a name; validation reports the missing name.
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
