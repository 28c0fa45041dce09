import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';
import { singleFileComponents } from './build/single-file-components.js';
import { sources } from './build/sources.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** What a reader of each page is shown beside it: the embed first. */
const shown = {
  script: ['script/connector.html', 'script/page.js', 'shared/connector.css'],
  html: ['html/connector.html', 'shared/connector.css'],
  react: ['react/connect.tsx', 'react/app.tsx'],
  vue: ['vue/ConnectForm.vue', 'vue/App.vue'],
};

/** The pages, one folder each. Everything is a file of its own: their policy allows nothing inline. */
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
      // 'use client' is for the servers of React frameworks, and this is a browser's bundle.
      checks: { moduleLevelDirective: false, pluginTimings: false },
      input: {
        ...Object.fromEntries(Object.keys(shown).map((page) => [page, path(`src/pages/${page}/index.html`)])),
        gallery: path('src/pages/gallery/index.html'),
        // For the lists that the server writes.
        'pipeline-row': path('src/pages/shared/pipelines/pipeline-row.ts'),
      },
    },
  },
});
