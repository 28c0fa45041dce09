import { fileURLToPath } from 'node:url';
import { readCatalog, type Catalog } from './read-catalog.js';

let loaded: Catalog | undefined;

/** The catalog of this package, read once per process, synchronously. Throws when it has not been built. */
export function loadCatalog(): Catalog {
  // `dist` is beside `src`, and this file may run from either.
  loaded ??= readCatalog(fileURLToPath(new URL('../dist', import.meta.url)));
  return loaded;
}
