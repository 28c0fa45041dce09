import type { ConnectorConfig, ConnectorConfigSchema, FieldSchema } from '@connector-frame/catalog/types';
import {
  chosenOf,
  getAt,
  initialValue,
  isUnion,
  joinPointer,
  setAt,
  withDefaults,
} from '@connector-frame/catalog/validate';
import type { Field } from './field.js';
import { toConfig, toDraft } from './rows.js';
import { schemaAt } from './schema-at.js';

/** What a person edits; pointers go into it. */
export interface Draft {
  name: string;
  description: string;
  settings: Record<string, unknown>;
  secrets: Record<string, unknown>;
}

type Settings = Record<string, unknown>;

/** One more row of a list or map. */
export function newRow(field: Field, schema: FieldSchema | undefined): unknown {
  if (field.kind === 'string-list') return '';
  if (field.kind === 'map' || field.kind === 'secret') return { key: '', value: '' };
  const items = schema?.type === 'array' ? schema.items : undefined;
  return (items && initialValue(items)) ?? {};
}

/** The settings as rows, of a new connector or a saved one. A saved one gets no defaults: what a person took out stays out. */
export function settingsDraft(schema: ConnectorConfigSchema, saved: Settings | undefined): Settings {
  const draft = toDraft(schema.settings, saved ?? withDefaults(schema).settings);
  return { ...(draft as Settings) };
}

/** The draft with a blank row in each list that must have some, so that there is where to type. */
export function withFirstRows(draft: Draft, fields: readonly Field[], schema: ConnectorConfigSchema): Draft {
  const settings = { ...draft.settings };
  for (const field of fields) {
    if (!field.required || field.path !== `/settings/${field.key}` || Object.hasOwn(settings, field.key)) continue;
    if (field.kind !== 'string-list' && field.kind !== 'object-list' && field.kind !== 'map') continue;
    const count = ('minItems' in field && field.minItems) || 1;
    settings[field.key] = Array.from({ length: count }, () => newRow(field, schemaAt(schema, field.path)));
  }
  return { ...draft, settings };
}

/** The draft after a choice was made in the union at `path`: the chosen body has its defaults where nothing was typed into it. */
export function withChoice(draft: Draft, schema: ConnectorConfigSchema, path: string): Draft {
  const rules = schemaAt(schema, path);
  const union = getAt(draft, path);
  const chosen = rules && isUnion(rules) ? chosenOf(rules, union) : undefined;
  if (!chosen?.body || chosen.key === undefined) return draft;
  const at = joinPointer(path, chosen.key);
  const body = getAt(draft, at);
  return setAt(draft, at, body ?? toDraft(chosen.body, initialValue(chosen.body)));
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
  const entries = Object.entries(secrets).filter(([key]) => typed(key));
  const root: FieldSchema = { ...schema.secrets, required: [] };
  const config = {
    settings: toConfig(schema.settings, settings, '/settings', cells) as Settings,
    secrets: toConfig(root, Object.fromEntries(entries), '/secrets', cells) as Settings,
  };
  return { config, cells };
}
