import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The pages, one folder each. Everything is a file of its own: their policy allows nothing inline. */
export default defineConfig({
  root: path('src/pages'),
  resolve: { conditions: ['source', ...defaultClientConditions] },
  build: {
    outDir: path('dist/public'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    sourcemap: true,
    rolldownOptions: { input: { html: path('src/pages/html/index.html') } },
  },
});
