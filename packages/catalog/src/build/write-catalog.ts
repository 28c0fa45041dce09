import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectorTypeData } from '../types.js';
import { typeDeclarations } from './type-declarations.js';

/** An import of this module makes the compiler check connector types in the embedding packages. */
const registration = `import type { CatalogTypes } from './connector-types.js';

declare module '@connector-frame/core/connect' {
  interface ConnectorTypes extends CatalogTypes {}
}
`;

/**
 * Writes `catalog.json` and `icons/<name>.svg`, which `readCatalog` reads, the type declarations in
 * `connector-types.d.ts`, and `register.d.ts`, which registers them with the embedding packages.
 * Removes the icons of an earlier build.
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
  writeFileSync(join(directory, 'register.d.ts'), registration);
  // Modules with types only have no exports.
  for (const name of ['connector-types', 'register']) writeFileSync(join(directory, `${name}.js`), 'export {};\n');
  writeFileSync(join(directory, 'catalog.json'), JSON.stringify({ types }));
}
