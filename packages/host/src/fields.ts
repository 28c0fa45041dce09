import type { ComponentKind } from '@connector-frame/core/protocol';
import { HostError } from './host-error.js';
import type { UnknownRecord } from './is-record.js';

const maxText = 256;

/**
 * Returns the query's fields. Rejects duplicate names, so that two parsers can't read different
 * values.
 */
export function queryFields(url: URL): UnknownRecord {
  const names = [...url.searchParams.keys()];
  if (new Set(names).size !== names.length) throw new HostError('invalid_request', 'A query name is given twice.');
  return Object.fromEntries(url.searchParams);
}

/** Returns a required, non-empty string. */
export function text(fields: UnknownRecord, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxText) return value;
  throw new HostError('invalid_request', `"${name}" must be a string of 1 to ${maxText} characters.`);
}

/** Returns a slug or ID that is safe in a list or a URL path. */
export function optionalId(fields: UnknownRecord, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^[\w.-]{1,128}$/.test(value)) return value;
  throw new HostError('invalid_request', `"${name}" must be an id: letters, digits, "-", "_" and ".".`);
}

/** Returns the `kind` field: `input` or `output`. */
export function kindOf(fields: UnknownRecord): ComponentKind {
  const value = fields['kind'];
  if (value === 'input' || value === 'output') return value;
  throw new HostError('invalid_request', '"kind" must be "input" or "output".');
}

/** Like {@link kindOf}, but optional. */
export function optionalKind(fields: UnknownRecord): ComponentKind | undefined {
  return fields['kind'] === undefined ? undefined : kindOf(fields);
}
