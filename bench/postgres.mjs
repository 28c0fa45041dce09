import { mkdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ensurePostgres } from '../scripts/lib/ensure-postgres.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Starts the PostgreSQL of the tests, which syncs every commit as an operator's does. */
export async function startPostgres() {
  if (!(await ensurePostgres())) throw new Error('PostgreSQL is missing.');
  const folder = `${root}node_modules/.cache/connector-frame`;
  mkdirSync(folder, { recursive: true });
  // In this folder, the packages that the file imports are found.
  const outfile = `${folder}/bench-postgres.mjs`;
  await build({
    entryPoints: [`${root}test/support/postgres.ts`],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile,
  });
  const { startPostgres: start } = await import(pathToFileURL(outfile).href);
  const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', shared_buffers: '128MB' };
  return start({ settings });
}
