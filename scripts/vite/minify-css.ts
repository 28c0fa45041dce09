import { transform } from 'esbuild';
import type { Plugin } from 'vite';

/** Minifies the `css` templates in a folder. Minifiers for JavaScript leave strings unchanged. */
export function minifyCss(folder: string): Plugin {
  return {
    name: 'minify-css',
    enforce: 'pre',
    async transform(code, id) {
      const [template, css] = id.startsWith(folder) ? (/\bcss`([^`$]*)`/.exec(code) ?? []) : [];
      if (template === undefined || css === undefined) return undefined;
      const { code: minified } = await transform(css, { loader: 'css', minify: true });
      return { code: code.replace(template, () => `css\`${minified.trim()}\``), map: null };
    },
  };
}
