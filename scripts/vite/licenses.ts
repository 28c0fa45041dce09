import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/**
 * Emits `connector-frame.LICENSE.txt`, which the banner of the drop-in scripts refers to: the full
 * text of the project's license and of Lit's. Lit's license requires that copies include it.
 * @param root folder of the repository
 * @param version version of the scripts
 */
export function licenses(root: string, version: string): Plugin {
  return {
    name: 'licenses',
    generateBundle() {
      const { resolve } = createRequire(join(root, 'packages/element/package.json'));
      // Resolves to `node/reactive-element.js`, one folder below the package.
      const lit = join(dirname(resolve('@lit/reactive-element')), '../LICENSE');
      const [project, ofLit] = [join(root, 'LICENSE'), lit].map((file) => readFileSync(file, 'utf8').trim());
      const heading = 'Lit, which is part of connector-frame.js and connector-catalog.js';
      const source = `Connector Frame ${version}\n\n${project}\n\n\n${heading}\n\n${ofLit}\n`;
      this.emitFile({ type: 'asset', fileName: 'connector-frame.LICENSE.txt', source });
    },
  };
}
