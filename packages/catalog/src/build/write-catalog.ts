import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectorTypeData } from '../types.js';
import { typeDeclarations } from './type-declarations.js';

/**
 * Writes `catalog.json` and `icons/<name>.svg`, which `readCatalog` reads, and the type
 * declarations in `connector-types.d.ts`. Removes the icons of an earlier build.
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
  // The declarations contain types only, so the module has no exports.
  writeFileSync(join(directory, 'connector-types.js'), 'export {};\n');
  writeFileSync(join(directory, 'catalog.json'), JSON.stringify({ types }));
}
