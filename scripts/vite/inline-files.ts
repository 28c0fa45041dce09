import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import type { Plugin } from 'vite';

const COMMENT = /<!-- inline (\w+): (.+?) -->/g;

/**
 * Replaces `<!-- inline <id>: <files> -->` in a page with the contents of the files: what the page
 * needs before any external script has loaded (boot script, styles), and data that the script only
 * reads (messages). See `decisions/001` and `decisions/006` for the reasons.
 * @param folder base folder of the paths
 * @param conditions export conditions for the imports of inline scripts
 */
export function inlineFiles(folder: string, conditions: string[]): Plugin {
  async function bundle(path: string): Promise<string> {
    const { outputFiles } = await build({
      entryPoints: [join(folder, path)],
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

  /** Returns the HTML for the files; the extension of the first one determines the kind. */
  async function htmlOf(id: string, paths: readonly string[]): Promise<string> {
    const [path = ''] = paths;
    if (path.endsWith('.ts')) return `<script>${await bundle(path)}</script>`;
    const text = (await Promise.all(paths.map((one) => readFile(join(folder, one), 'utf8')))).join('\n');
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

  return {
    name: 'inline-files',
    transformIndexHtml: {
      order: 'post',
      async handler(page) {
        const elements = await Promise.all(
          [...page.matchAll(COMMENT)].map(async ([comment, id = '', paths = '']) => {
            const html = await htmlOf(id, paths.split(' '));
            if (/<\/(script|style)[\s\S]*<\/(script|style)|<!--/i.test(html))
              throw new Error(`A file of ${comment} contains "<!--" or a closing tag. Escape it.`);
            return html;
          }),
        );
        return page.replace(COMMENT, () => elements.shift() ?? '');
      },
    },
  };
}
