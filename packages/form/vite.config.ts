import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build as bundle, transform } from 'esbuild';
import { defineConfig, defaultClientConditions, type Plugin } from 'vite';

const conditions = ['source', ...defaultClientConditions];

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const INLINE = /<!-- inline (\w+): (.+?) -->/g;

async function script(path: string): Promise<string> {
  const { outputFiles } = await bundle({
    entryPoints: [fileOf(path)],
    conditions,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    write: false,
  });
  // The inline scripts behave the same in strict and sloppy mode.
  return outputFiles[0]?.text.trim().replace(/^"use strict";/, '') ?? '';
}

async function element(id: string, paths: readonly string[]): Promise<string> {
  const [path = ''] = paths;
  if (path.endsWith('.ts')) return `<script>${await script(path)}</script>`;
  const text = (await Promise.all(paths.map((one) => readFile(fileOf(one), 'utf8')))).join('\n');
  if (path.endsWith('.json')) {
    // CSP does not apply to a JSON data block: it is not executed.
    const data = JSON.stringify(JSON.parse(text)).replaceAll('<', String.raw`\u003c`);
    return `<script type="application/json" id="${id}">${data}</script>`;
  }
  if (path.endsWith('.html'))
    return text
      .replaceAll(/<!--.*?-->/g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll('> <', '><')
      .trim();
  const { code } = await transform(text, { loader: 'css', minify: true, legalComments: 'none' });
  return `<style id="${id}">${code.trim()}</style>`;
}

/**
 * Replaces `<!-- inline <id>: <files> -->` in the page with the contents of the files: what the
 * page needs before any external script has loaded (boot script, styles), and data that the script
 * only reads (messages). See `decisions/001` and `decisions/006` for the reasons.
 */
function inline(): Plugin {
  return {
    name: 'inline',
    transformIndexHtml: {
      order: 'post',
      async handler(html) {
        const places = [...html.matchAll(INLINE)];
        const elements = await Promise.all(places.map(([, id = '', paths = '']) => element(id, paths.split(' '))));
        if (elements.some((text) => /<\/(script|style)[\s\S]*<\/(script|style)|<!--/i.test(text)))
          throw new Error('A file to inline ends its own element.');
        return html.replace(INLINE, () => elements.shift() ?? '');
      },
    },
  };
}

/**
 * Strips the indentation from the view's templates. Whitespace between elements on separate lines
 * has no visible effect.
 */
function unindent(): Plugin {
  return {
    name: 'unindent',
    transform: (code, id) =>
      id.includes('/src/view/') ? { code: code.replaceAll(/\n\s+/g, '\n'), map: null } : undefined,
  };
}

// Emits one page and one script; a separate style sheet would cost another request.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  resolve: { conditions },
  plugins: [unindent(), inline()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/form-[hash].js',
        codeSplitting: false,
        comments: { legal: false },
        // Nearly all of the script runs on load. This hint makes Chromium compile it during the
        // download instead of compiling each function on first use.
        postBanner: '//# allFunctionsCalledOnLoad',
      },
    },
  },
});
