import type { ConnectorFrameError } from '@connector-frame/core/connect';

/** Codes of errors that the user alone can fix, and reads in the form. */
const USER_ERRORS = /^((load|test|save)_failed|offline)$/;

/** An element of this package, and the options that tell elements of a page apart. */
type Source = HTMLElement & {
  kind?: string | undefined;
  typeId?: string | undefined;
  existingId?: string | undefined;
};

/**
 * Logs an error to the console, with the element that reports it. Errors that only the user can fix
 * are not logged if the form shows them.
 *
 * @param isShown whether the form shows the error
 */
export function logError(element: Source, { code, message }: ConnectorFrameError, isShown: boolean): void {
  if (isShown && USER_ERRORS.test(code)) return;
  const { localName, kind, typeId, existingId } = element;
  const options = Object.entries({ kind, 'type-id': typeId, 'existing-id': existingId });
  const given = options.map(([name, value]) => value && ` ${name}="${value}"`);
  console.error(`<${localName}${given.join('')}> ${code}: ${message}`);
}
