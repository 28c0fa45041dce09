/** Settings of polled types that decide how a connection is made. */
import type { PollDefinition } from '../types.js';
import type { VisitedField } from './walk.js';

/** Those that polling obeys, by their names. */
const OBEYED = [
  '/settings/verify_ssl',
  '/settings/verify_certificate',
  '/settings/use_ssl',
  '/settings/ca_certificate_file',
  '/settings/ca_certificate_file_parsed_into_base64_string',
];

/** Checks that settings which are not supported may be empty. */
export function checkUnsupported(
  { unsupported = [] }: PollDefinition,
  fields: readonly VisitedField[],
  add: (pointer: string, message: string) => void,
): void {
  for (const [index, path] of unsupported.entries()) {
    const found = fields.find((each) => each.path === path);
    if (found?.required === true || (found && 'default' in found.field && found.field.default !== false))
      add(`/unsupported/${String(index)}`, `names ${path}, which is always filled: it is required or has a default`);
  }
}

/** Checks that no setting is ignored that should protect the connection. */
export function checkConnection(
  fields: readonly VisitedField[],
  add: (pointer: string, message: string) => void,
): void {
  for (const { path, field } of fields)
    if (field['x-transport'] === true && !OBEYED.includes(path))
      add('', `would ignore ${path}, which protects the connection: polling obeys ${OBEYED.join(', ')}`);
}
