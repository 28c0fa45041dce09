/** Settings of polled types that decide how a connection is made. */
import type { VisitedField } from './walk.js';

/** Those that polling obeys, by their names. */
const OBEYED = [
  '/settings/verify_ssl',
  '/settings/verify_certificate',
  '/settings/use_ssl',
  '/settings/ca_certificate_file',
];

/** Checks that no setting is ignored that should protect the connection. */
export function checkConnection(
  fields: readonly VisitedField[],
  add: (pointer: string, message: string) => void,
): void {
  for (const { path, field } of fields)
    if (field['x-transport'] === true && !OBEYED.includes(path))
      add('', `would ignore ${path}, which protects the connection: polling obeys ${OBEYED.join(', ')}`);
}
