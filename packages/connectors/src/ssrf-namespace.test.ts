/**
 * S10, S35: runs the corpus on real sockets, through every connector type, in a network namespace
 * where every IP address is local and a server of this test listens on all of them. A DNS server of
 * this test resolves the names, over UDP.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { expect, test } from 'vitest';
import { long } from '../../../test/support/long.js';
import { canIsolate, runIsolated } from '../../../test/support/network-namespace.js';
import type { Report } from '../../../test/support/ssrf/namespace-program.js';
import { attackedTargets } from '../../../test/support/ssrf/targets.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const external: Plugin = {
  name: 'external',
  setup: (build) =>
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@connector-frame/engine') ? undefined : { path, external: true },
    ),
};

test.skipIf(!canIsolate)(
  'no connector type reaches a closed address on real sockets: typed, resolved, rebound, redirected (S10, S35; needs network namespaces)',
  async () => {
    const folder = `${root}node_modules/.cache/connector-frame`;
    mkdirSync(folder, { recursive: true });
    // Bundled from the sources, because Node can't run TypeScript. Other packages stay external:
    // they read files next to their code.
    const outfile = `${folder}/ssrf-namespace-${process.pid}.mjs`;
    const entryPoints = [`${root}test/support/ssrf/namespace-program.ts`];
    await build({
      entryPoints,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['source'],
      plugins: [external],
      outfile,
    });
    const { control, broken, counts }: Report = JSON.parse(
      await runIsolated([process.execPath, outfile], long ? { LONG: '1' } : {}),
    );
    // Positive control: the server sees every dialed address.
    expect(control.raw).toEqual(['169.254.169.254', '203.0.113.7', '93.184.216.34', '2606:2800:220:1::1']);
    const reached = Object.entries(control.targets).filter(([, dialled]) => dialled.includes('93.184.216.34'));
    expect(reached.map(([name]) => name)).toEqual(attackedTargets().map(({ name }) => name));
    expect(broken).toEqual([]);
    expect(Object.keys(counts).toSorted()).toEqual(['control', 'rebinding', 'redirect', 'resolved', 'typed']);
    expect(counts['typed']).toBeGreaterThan(long ? 1_000 : 40);
    expect(counts['resolved']).toBeGreaterThan(long ? 1_500 : 50);
  },
  1_200_000,
);
