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
      // From the entry for Node, one folder below the package's own.
      const lit = join(dirname(createRequire(import.meta.url).resolve('@lit/reactive-element')), '../LICENSE');
      const ours = readFileSync(fileOf('../../LICENSE'), 'utf8').trim();
      const source = `Connector Frame ${version}\n\n${ours}\n\n\nLit, which is part of connector-frame.js and connector-catalog.js\n\n${readFileSync(lit, 'utf8').trim()}\n`;
      this.emitFile({ type: 'asset', fileName: 'connector-frame.LICENSE.txt', source });
    },
  };
}

/** Takes the space out of style sheets, which no minifier of scripts looks into. */
function squeeze(): Plugin {
  return {
    name: 'squeeze',
    enforce: 'pre',
    async transform(code, id) {
      const [tagged, sheet] = id.startsWith(fileOf('src/')) ? (/\bcss`([^`$]*)`/.exec(code) ?? []) : [];
      if (tagged === undefined || sheet === undefined) return undefined;
      const { code: small } = await minify(sheet, { loader: 'css', minify: true });
      return { code: code.replace(tagged, () => `css\`${small.trim()}\``), map: null };
    },
  };
}

/** What each drop-in is made of, by the mode of the build. */
const entries: Record<string, { entry: string; name: string }> = {
  production: { entry: 'src/drop-in.ts', name: 'connector-frame.js' },
  catalog: { entry: 'src/define-catalog.ts', name: 'connector-catalog.js' },
};

// Drop-ins, put beside what tsc made: each one file, whatever it imports.
export default defineConfig(({ mode }) => {
  const { entry, name } = entries[mode] ?? { entry: '', name: '' };
  return {
    root: import.meta.dirname,
    resolve: { conditions: ['source', ...defaultClientConditions] },
    plugins: [squeeze(), licences()],
    build: {
      target: 'es2022',
      emptyOutDir: false,
      reportCompressedSize: false,
      lib: { entry, formats: ['es' as const], fileName: () => name },
      rolldownOptions: {
        output: {
          // A library's whitespace stays unless configured here.
          minify: true,
          codeSplitting: false,
          comments: { legal: false, annotation: false },
          postBanner: `/*! Connector Frame ${version}, Apache-2.0, with Lit, Copyright Google LLC, BSD-3-Clause: ./connector-frame.LICENSE.txt */`,
        },
      },
    },
  };
});
