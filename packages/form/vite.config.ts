import { build as bundle } from 'esbuild';
import { defineConfig, defaultClientConditions, type Plugin } from 'vite';

const BOOT = /<script src="\.\/src\/boot\.ts"><\/script>/;

/** Puts the boot script itself where the page names it: it has to run before anything else has arrived. */
function inlineBoot(conditions: string[]): Plugin {
  return {
    name: 'inline-boot',
    transformIndexHtml: {
      order: 'pre',
      async handler(html) {
        const { outputFiles } = await bundle({
          entryPoints: [new URL('src/boot.ts', import.meta.url).pathname],
          conditions,
          bundle: true,
          minify: true,
          format: 'iife',
          target: 'es2022',
          legalComments: 'none',
          write: false,
        });
        const code = outputFiles[0]?.text.trim() ?? '';
        if (!BOOT.test(html) || /<\/script|<!--/i.test(code)) throw new Error('The boot script can not be inlined.');
        return html.replace(BOOT, () => `<script>${code}</script>`);
      },
    },
  };
}

const conditions = ['source', ...defaultClientConditions];

// One page, one script: CSS is text inside it, because the policy of the page allows no inline style and a file would be a request more.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  resolve: { conditions },
  plugins: [inlineBoot(conditions)],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/form-[hash].js',
        codeSplitting: false,
        legalComments: 'none',
      },
    },
  },
});
