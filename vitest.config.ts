import { defineConfig } from 'vitest/config';

// Resolve packages to their sources, so that a test never runs against a stale build.
const resolve = { conditions: ['source', 'default'] };

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false,
          include: ['packages/*/src/**/*.test.ts', 'demo/src/**/*.test.ts', 'test/unit/**/*.test.ts'],
          expect: { poll: { timeout: 10_000 } },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          // Test files share two cores, and each starts a browser and a service. Without isolation,
          // modules are loaded once for all files.
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 10_000 } },
        },
      },
    ],
  },
});
