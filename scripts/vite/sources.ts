import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Plugin } from 'vite';

/**
 * Emits `sources.json` for the demo's server: the unmodified files that each page shows as its
 * source.
 * @param folder base folder of the paths
 * @param files paths of the files, by page
 */
export function sources(folder: string, files: Readonly<Record<string, readonly string[]>>): Plugin {
  const read = async (path: string) => ({ name: basename(path), code: await readFile(join(folder, path), 'utf8') });
  return {
    name: 'sources',
    apply: 'build',
    async generateBundle() {
      const pages = Object.entries(files).map(
        async ([page, paths]) => [page, await Promise.all(paths.map(read))] as const,
      );
      const source = JSON.stringify(Object.fromEntries(await Promise.all(pages)));
      this.emitFile({ type: 'asset', fileName: 'sources.json', source });
    },
  };
}
