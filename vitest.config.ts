import { defineConfig } from 'vitest/config';
import { long } from './test/support/long.ts';
import SlowFirst from './test/support/slow-first.ts';

// Resolve packages to their sources, so that tests never run against a stale build.
const resolve = { conditions: ['source', 'default'] };

/** The path of a customer once more, unchanged, on two replicas behind a proxy and two workers. */
const severalProcesses = {
  extends: true,
  test: {
    name: 'several-processes',
    include: ['connect-account', 'demo-pipelines'].map((name) => `test/browser/${name}.test.ts`),
    isolate: false,
    setupFiles: './test/support/topology/across-setup.ts',
  },
} as const;

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    runner: './test/support/skip-tests.ts',
    // No test may depend on the speed of the machine: these only end what hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Each worker loads the modules of the service once more, so further ones do not pay off.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false,
          include: ['packages/*/src/**/*.test.ts', 'demo/src/**/*.test.ts', 'test/unit/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          // Several files at a time share two cores. Each starts a browser and a service; without
          // isolation, modules are loaded once for all files.
          isolate: false,
        },
      },
      ...(long ? [severalProcesses] : []),
    ],
  },
});
