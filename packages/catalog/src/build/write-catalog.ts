import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectorTypeData } from '../types.js';
import { typeDeclarations } from './type-declarations.js';

/**
 * Writes what `readCatalog` reads, `catalog.json` and `icons/<name>.svg`, and the types that compilers read,
 * `connector-types.d.ts`. Icons of an earlier build go.
 */
export function writeCatalog(
  directory: string,
  types: readonly ConnectorTypeData[],
  icons: ReadonlyMap<string, string>,
): void {
  const folder = join(directory, 'icons');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, svg] of icons) writeFileSync(join(folder, `${name}.svg`), svg);
  writeFileSync(join(directory, 'connector-types.d.ts'), typeDeclarations(types));
  // What the declarations describe has no value.
  writeFileSync(join(directory, 'connector-types.js'), 'export {};\n');
  writeFileSync(join(directory, 'catalog.json'), JSON.stringify({ types }));
}
