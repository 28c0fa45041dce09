import type { ComponentKind } from '@connector-frame/core/protocol';
import { HostError } from './host-error.js';
import type { UnknownRecord } from './is-record.js';

const maxText = 256;

/** The query as fields. A name given twice is refused, so that two readers can never see two values. */
export function queryFields(url: URL): UnknownRecord {
  const names = [...url.searchParams.keys()];
  if (new Set(names).size !== names.length) throw new HostError('invalid_request', 'A query name is given twice.');
  return Object.fromEntries(url.searchParams);
}

/** A required, non-empty string. */
export function text(fields: UnknownRecord, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxText) return value;
  throw new HostError('invalid_request', `"${name}" must be a string of 1 to ${maxText} characters.`);
}

/** Reads an optional slug or id that is safe in a list or a path. */
export function optionalId(fields: UnknownRecord, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^[\w.-]{1,128}$/.test(value)) return value;
  throw new HostError('invalid_request', `"${name}" must be an id: letters, digits, "-", "_" and ".".`);
}

/** `input` or `output`. */
export function kindOf(fields: UnknownRecord): ComponentKind {
  const value = fields['kind'];
  if (value === 'input' || value === 'output') return value;
  throw new HostError('invalid_request', '"kind" must be "input" or "output".');
}

/** As {@link kindOf}, but may be absent. */
export function optionalKind(fields: UnknownRecord): ComponentKind | undefined {
  return fields['kind'] === undefined ? undefined : kindOf(fields);
}
