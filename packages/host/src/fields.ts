import type { ComponentKind } from '@connector-frame/core/protocol';
import { HostError } from './host-error.js';
import type { UnknownRecord } from './is-record.js';
import { isKind } from './kinds.js';

const maxText = 256;

/** Returns the query parameters. Duplicates are rejected: parsers disagree on which one counts. */
export function queryFields(url: URL): UnknownRecord {
  const names = [...url.searchParams.keys()];
  if (new Set(names).size !== names.length) throw new HostError('invalid_request', 'A query parameter is given twice.');
  return Object.fromEntries(url.searchParams);
}

/** Returns a required, non-empty string. */
export function text(fields: UnknownRecord, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxText) return value;
  throw new HostError('invalid_request', `"${name}" must be a string of 1 to ${maxText} characters.`);
}

/** Returns an optional slug or id that is safe in a URL path. */
export function optionalId(fields: UnknownRecord, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^[\w.-]{1,128}$/.test(value)) return value;
  throw new HostError('invalid_request', `"${name}" must be an id: letters, digits, "-", "_" and ".".`);
}

/** Returns the field `kind`. */
export function kindOf(fields: UnknownRecord): ComponentKind {
  const value = fields['kind'];
  if (isKind(value)) return value;
  throw new HostError('invalid_request', '"kind" must be "input", "output" or "enrichment".');
}

/** Like {@link kindOf}, but the field may be absent. */
export function optionalKind(fields: UnknownRecord): ComponentKind | undefined {
  return fields['kind'] === undefined ? undefined : kindOf(fields);
}
