import { toConnectorError } from '../_shared/api/api-error.js';
import { failed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';

/** Returns the `FROM` clause's source: the table, or the query in the settings. */
export function sourceOf(settings: Record<string, unknown>): string {
  const query = text(settings, 'query')?.replace(/[;\s]+$/, '');
  // A comment at the end of the query would hide what follows in its line.
  if (query !== undefined) return `(\n${query}\n)`;
  const parts = ['project', 'dataset', 'table'].map((name) => text(settings, name) ?? '');
  return quote(parts.join('.'), '/settings/table');
}

/** Quotes a path of names. @throws ConnectorError `invalid_config`, permanent */
export function quote(name: string, field: string): string {
  if (name === '' || /[`\\\n]/.test(name))
    throw toConnectorError(failed('invalid_config', 'This name is not valid in BigQuery.', { at: field }));
  return `\`${name}\``;
}
