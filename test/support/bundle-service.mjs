/**
 * Bundles the compiled service and the worker, which start with a third of the CPU time of 1,600 modules,
 * and prints the path of the service's entry; the worker's is beside it. Paths relative to a module stay valid.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = `${root}node_modules/.cache/connector-frame`;

/** Libraries of many ES modules. All others are loaded from where they are, as usual. */
const BUNDLED =
  /^(@connector-frame|drizzle-orm|zod|jose|hono|@hono|htmlparser2|domhandler|domutils|domelementtype|dom-serializer|entities|csv-parse)(\/|$)/;

// The compiler writes these files with every change of its output.
const state = ['catalog', 'engine', 'connectors', 'service'].map((name) => `packages/${name}/tsconfig.tsbuildinfo`);
const key = createHash('sha256');
for (const path of [...state, 'package-lock.json', 'test/support/bundle-service.mjs']) {
  const { size, mtimeMs } = statSync(root + path);
  key.update(`${path} ${size} ${mtimeMs}\n`);
}
const folder = `service-${key.digest('hex').slice(0, 16)}`;

if (!existsSync(`${cache}/${folder}`)) {
  const old = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith('service-')) : [];
  // Several test processes may do this at once; renaming is atomic.
  const mine = `${cache}/bundle-${process.pid}`;
  await build({
    entryPoints: ['main', 'worker-main'].map((name) => `${root}packages/service/dist/${name}.js`),
    outdir: mine,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Keeps modules that are imported on first use in separate files.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Without it, esbuild also chooses builds for bundlers.
    conditions: [],
    logLevel: 'error',
    plugins: [{ name: 'service', setup }],
  });
  try {
    renameSync(mine, `${cache}/${folder}`);
  } catch {
    // Another process was faster.
    rmSync(mine, { recursive: true });
  }
  for (const name of old) rmSync(`${cache}/${name}`, { recursive: true, force: true });
}
console.log(`${cache}/${folder}/main.mjs`);

function setup({ onResolve, onLoad, resolve }) {
  onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...place }) => {
    if (pluginData === 'resolved' || BUNDLED.test(path)) return undefined;
    if (path.startsWith('node:')) return { path, external: true };
    const found = await resolve(path, { ...place, pluginData: 'resolved' });
    if (found.errors.length > 0 || found.external) return { path, external: true };
    return { path: pathToFileURL(found.path).href, external: true };
  });
  onLoad({ filter: /packages\/\w+\/dist\/.*\.js$/ }, async ({ path }) => {
    const contents = await readFile(path, 'utf8');
    return { contents: contents.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'js' };
  });
}
