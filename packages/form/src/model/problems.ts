import type { ConnectorConfigSchema, Issue } from '@connector-frame/catalog/types';
import { getAt, validateConfig } from '@connector-frame/catalog/validate';
import { configOf, type Draft } from './draft.js';
import type { Field, SecretState } from './field.js';
import { isMapRow } from './rows.js';
import { walkFields } from './walk-fields.js';

/** What the form knows of itself when it looks for problems. */
export interface Content {
  schema: ConnectorConfigSchema;
  fields: readonly Field[];
  draft: Draft;
  secretAt(path: string): SecretState;
  kept: ReadonlySet<string>;
}

/** Rows of a map that lack a name, or repeat one: a config, an object, could not even say so. */
function rowProblems(path: string, rows: unknown): Issue[] {
  if (!Array.isArray(rows)) return [];
  const seen = new Set<string>();
  return rows.flatMap((row: unknown, index): Issue[] => {
    if (!isMapRow(row)) return [];
    const key = row.key.trim();
    const at = `${path}/${index}/key`;
    if (key === '') return row.value === '' ? [] : [{ path: at, code: 'required' }];
    if (seen.has(key)) return [{ path: at, code: 'unique_items' }];
    seen.add(key);
    return [];
  });
}

/** Everything wrong with the form, by pointers into the draft: the shared validator's issues, and what only a draft can have. */
export function problemsIn({ schema, fields, draft, secretAt, kept }: Content): Issue[] {
  const own: Issue[] = [];
  for (const { field, path } of walkFields(fields, draft)) {
    if (path === '/name' && !draft.name.trim()) own.push({ path, code: 'required' });
    const isMap = field.kind === 'map' || (field.kind === 'secret' && field.shape === 'map');
    if (field.kind === 'secret') {
      const secret = secretAt(path);
      const blank = secret.state === 'typing' && secret.replaces && !hasContent(getAt(draft, path));
      if (secret.state === 'reentry' || blank) own.push({ path, code: 'required' });
    }
    if (isMap) own.push(...rowProblems(path, getAt(draft, path)));
  }
  const { config, cells } = configOf(schema, draft, (key) => secretAt(`/secrets/${key}`).state === 'typing');
  const shared = validateConfig(schema, config, { kept }).map((issue) => ({
    ...issue,
    path: cells.get(issue.path) ?? issue.path,
  }));
  const known = new Set(own.map(({ path }) => path));
  return [...own, ...shared.filter(({ path }) => !known.has(path))];
}

const hasContent = (value: unknown): boolean =>
  Array.isArray(value) ? value.some((row) => isMapRow(row) && (row.key || row.value)) : Boolean(value);
