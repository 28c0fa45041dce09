import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform as minify } from 'esbuild';
import { defineConfig, defaultClientConditions, type Plugin } from 'vite';

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { version }: { version: string } = JSON.parse(readFileSync(fileOf('package.json'), 'utf8'));

/** The licences in full, beside the script that names them: ours, and the one that Lit's asks to go with it. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle() {
      const lit = join(dirname(createRequire(import.meta.url).resolve('lit')), 'LICENSE');
      const ours = readFileSync(fileOf('../../LICENSE'), 'utf8').trim();
      const source = `Connector Frame ${version}\n\n${ours}\n\n\nLit, which is part of connector-frame.js\n\n${readFileSync(lit, 'utf8').trim()}\n`;
      this.emitFile({ type: 'asset', fileName: 'connector-frame.LICENSE.txt', source });
    },
  };
}

/**
 * Takes the space out of style sheets and templates, which no minifier of scripts looks into. The sheets are plain text, so that Lit's tag for
 * sheets with values in them stays out of the file.
 */
function squeeze(): Plugin {
  return {
    name: 'squeeze',
    enforce: 'pre',
    async transform(code, id) {
      if (!id.startsWith(fileOf('src/'))) return undefined;
      const sheets = [...code.matchAll(/\bcss`([^`$]*)`/g)];
      const small = await Promise.all(sheets.map(([, sheet = '']) => minify(sheet, { loader: 'css', minify: true })));
      let squeezed = code
        .replaceAll(/\bhtml`[^`]*`/g, (template) =>
          template.replaceAll(/>\s*\n\s*</g, '><').replaceAll(/\s*\n\s*/g, '\n'),
        )
        .replace(/\bcss(?=[^;]*\bfrom 'lit';)/, 'unsafeCSS');
      for (const [index, [tagged]] of sheets.entries())
        squeezed = squeezed.replace(tagged, () => `unsafeCSS(${JSON.stringify(small[index]?.code.trim())})`);
      return { code: squeezed, map: null };
    },
  };
}

// The drop-in, put beside what tsc made: one file, whatever it imports.
export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions: ['source', ...defaultClientConditions] },
  plugins: [squeeze(), licences()],
  build: {
    target: 'es2022',
    emptyOutDir: false,
    reportCompressedSize: false,
    lib: { entry: 'src/drop-in.ts', formats: ['es'], fileName: () => 'connector-frame.js' },
    rolldownOptions: {
      output: {
        // A library's whitespace stays unless it is asked for here.
        minify: true,
        codeSplitting: false,
        comments: { legal: false, annotation: false },
        postBanner: `/*! Connector Frame ${version}, Apache-2.0, with Lit, Copyright Google LLC, BSD-3-Clause: ./connector-frame.LICENSE.txt */`,
      },
    },
  },
});
