import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig, type UserConfig } from 'vite';
import { compress } from './scripts/vite/compress.js';
import { inlineFiles } from './scripts/vite/inline-files.js';
import { lazyScript } from './scripts/vite/lazy-script.js';
import { licenses } from './scripts/vite/licenses.js';
import { minifyCss } from './scripts/vite/minify-css.js';
import { singleFileComponents } from './scripts/vite/single-file-components.js';
import { sources } from './scripts/vite/sources.js';
import { stripIndentation } from './scripts/vite/strip-indentation.js';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

// Bundle the sources of the other packages, not their build output.
const conditions = ['source', ...defaultClientConditions];

/** The form: one page and one script. A separate style sheet would cost another request. */
function form(): UserConfig {
  return {
    root: path('packages/form'),
    base: './',
    resolve: { conditions },
    plugins: [
      stripIndentation(path('packages/form/src/view/')),
      inlineFiles(path('packages/form'), conditions),
      lazyScript('extras', path('packages/form/src/extras.ts'), conditions),
      // Nearly all of the script runs on load. This hint makes Chromium compile it during the
      // download instead of compiling each function on first use.
      compress('//# allFunctionsCalledOnLoad'),
    ],
    build: {
      target: 'es2022',
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        checks: { pluginTimings: false },
        output: {
          entryFileNames: 'assets/form-[hash].js',
          codeSplitting: false,
          comments: { legal: false },
        },
      },
    },
  };
}

/** A drop-in script: one file with all its imports, beside the modules that tsc writes. */
function dropIn(entry: string, fileName: string): UserConfig {
  const manifest = readFileSync(path('packages/element/package.json'), 'utf8');
  const { version }: { version: string } = JSON.parse(manifest);
  return {
    root: path('packages/element'),
    resolve: { conditions },
    plugins: [minifyCss(path('packages/element/src/')), licenses(path('.'), version)],
    build: {
      target: 'es2022',
      emptyOutDir: false,
      reportCompressedSize: false,
      lib: { entry, formats: ['es'], fileName: () => fileName },
      rolldownOptions: {
        output: {
          // Vite keeps the whitespace of ES libraries by default.
          minify: true,
          codeSplitting: false,
          comments: { legal: false, annotation: false },
          postBanner: `/*! Connector Frame ${version}, Apache-2.0, with Lit, Copyright Google LLC, BSD-3-Clause: ./connector-frame.LICENSE.txt */`,
        },
      },
    },
  };
}

/** Source files shown beside each page of the demo, the embed first. */
const shown = {
  script: ['script/connector.html', 'script/page.js', 'shared/connector.css'],
  html: ['html/connector.html', 'shared/connector.css'],
  react: ['react/connect.tsx', 'react/app.tsx'],
  vue: ['vue/ConnectForm.vue', 'vue/App.vue'],
};

/**
 * The pages of the demo, one folder each. Their CSP allows nothing inline, so everything is a
 * separate file.
 */
function demo(): UserConfig {
  const pages = path('demo/src/pages');
  return {
    root: pages,
    plugins: [singleFileComponents(), sources(pages, shown)],
    resolve: { conditions, dedupe: ['react', 'react-dom', 'vue'] },
    define: {
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    build: {
      outDir: path('demo/dist/public'),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: false,
      sourcemap: true,
      rolldownOptions: {
        // 'use client' is for the servers of React frameworks and has no effect in a browser bundle.
        checks: { moduleLevelDirective: false, pluginTimings: false },
        input: {
          ...Object.fromEntries(Object.keys(shown).map((page) => [page, `${pages}/${page}/index.html`])),
          gallery: `${pages}/gallery/index.html`,
          // Loaded by the lists that the server renders.
          'pipeline-row': `${pages}/shared/pipelines/pipeline-row.ts`,
        },
      },
    },
  };
}

/** What each mode builds. */
const targets: Readonly<Record<string, () => UserConfig>> = {
  form,
  element: () => dropIn('src/drop-in.ts', 'connector-frame.js'),
  catalog: () => dropIn('src/define-catalog.ts', 'connector-catalog.js'),
  demo,
};

/** Everything that runs in a browser: `vite build --mode form` builds the form. */
export default defineConfig(({ mode }) => {
  const target = targets[mode];
  if (!target) throw new Error(`There is no mode "${mode}". Pass --mode ${Object.keys(targets).join(', ')}.`);
  return target();
});
