import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { build, transform, type Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin } from 'vite';

/** Imports a style sheet as minified text: `import css from './x.css?inline'`, as Vite does. */
const styles: EsbuildPlugin = {
  name: 'styles',
  setup(bundle) {
    bundle.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

/**
 * Builds a script that the page's own script loads when it needs it, and writes its name to
 * `<meta name="…" content="">` of the page. It is a separate bundle: a chunk would make the main script
 * export what both use, and carry the bundler's code that preloads chunks.
 *
 * @param name of the meta element, and beginning of the file's name
 * @param entry path of the module
 * @param conditions export conditions for its imports
 */
export function lazyScript(name: string, entry: string, conditions: string[]): Plugin {
  let fileName = '';
  return {
    name: 'lazy-script',
    apply: 'build',
    async buildStart() {
      const { outputFiles } = await build({
        entryPoints: [entry],
        conditions,
        plugins: [styles],
        bundle: true,
        minify: true,
        format: 'esm',
        target: 'es2022',
        legalComments: 'none',
        write: false,
      });
      const source = outputFiles[0]?.text ?? '';
      fileName = `${name}-${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.js`;
      this.emitFile({ type: 'asset', fileName: `assets/${fileName}`, source });
    },
    transformIndexHtml: {
      order: 'post',
      handler: (page) => page.replace(`name="${name}" content=""`, `name="${name}" content="./${fileName}"`),
    },
  };
}
