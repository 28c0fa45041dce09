import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';
import { singleFileComponents } from './build/single-file-components.js';
import { sources } from './build/sources.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Source files shown beside each page, the embed first. */
const shown = {
  script: ['script/connector.html', 'script/page.js', 'shared/connector.css'],
  html: ['html/connector.html', 'shared/connector.css'],
  react: ['react/connect.tsx', 'react/app.tsx'],
  vue: ['vue/ConnectForm.vue', 'vue/App.vue'],
};

/**
 * Builds the pages, one folder each. Their CSP allows nothing inline, so everything is a separate
 * file.
 */
export default defineConfig({
  root: path('src/pages'),
  plugins: [singleFileComponents(), sources(path('src/pages'), shown)],
  resolve: { conditions: ['source', ...defaultClientConditions], dedupe: ['react', 'react-dom', 'vue'] },
  define: {
    __VUE_OPTIONS_API__: 'true',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  build: {
    outDir: path('dist/public'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    sourcemap: true,
    rolldownOptions: {
      // 'use client' is for the servers of React frameworks and has no effect in a browser bundle.
      checks: { moduleLevelDirective: false, pluginTimings: false },
      input: {
        ...Object.fromEntries(Object.keys(shown).map((page) => [page, path(`src/pages/${page}/index.html`)])),
        gallery: path('src/pages/gallery/index.html'),
        // Loaded by the lists that the server renders.
        'pipeline-row': path('src/pages/shared/pipelines/pipeline-row.ts'),
      },
    },
  },
});
