import { fileURLToPath } from 'node:url';
import { readCatalog, type Catalog } from './read-catalog.js';

let loaded: Catalog | undefined;

/**
 * Returns the catalog of this package. Reads it synchronously on the first call and caches it for
 * the process.
 *
 * @throws Error if the catalog has not been built
 * @example
 * ```ts
 * const names = loadCatalog()
 *   .list('input')
 *   .map(({ name }) => name);
 * ```
 */
export function loadCatalog(): Catalog {
  // `dist` is a sibling of `src`, and this file may run from either.
  loaded ??= readCatalog(fileURLToPath(new URL('../dist', import.meta.url)));
  return loaded;
}
