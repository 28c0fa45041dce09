import type { ConnectorFrameError } from '@connector-frame/core/connect';

/** Errors that the user alone can fix, and reads in the form. */
const userErrors = new Set<string>(['load_failed', 'test_failed', 'save_failed', 'offline']);

/** An element of this package, and the options that tell elements of a page apart. */
type Source = HTMLElement & {
  kind?: string | undefined;
  typeId?: string | undefined;
  existingId?: string | undefined;
  hostUrl?: string | undefined;
};

/**
 * Logs an error to the console, with the element that reports it. Errors that only the user can fix
 * are not logged if the form shows them.
 *
 * @param isShown whether the form shows the error
 */
export function logError(element: Source, { code, message }: ConnectorFrameError, isShown: boolean): void {
  if (isShown && userErrors.has(code)) return;
  const { localName, kind, typeId, existingId, hostUrl } = element;
  const options = { kind, 'type-id': typeId, 'existing-id': existingId, 'host-url': hostUrl };
  const given = Object.entries(options).filter(([, value]) => value);
  const tag = [localName, ...given.map(([name, value]) => `${name}="${value}"`)].join(' ');
  console.error(`<${tag}> ${code}: ${message}`);
}
