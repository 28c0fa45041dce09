import { existsSync, readFileSync } from 'node:fs';
import { root } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/** In dependency order: each package reads the build output of the ones before it. */
const packages = ['catalog', 'core', 'form', 'element', 'react', 'vue', 'host', 'engine', 'connectors', 'service']
  .map((name) => `packages/${name}`)
  .concat('demo');

/**
 * Builds everything and resolves to whether that succeeded. tsc and Vite are fast when nothing
 * changed.
 */
export async function build() {
  say('Building ...');
  if ((await run('npx', ['tsc', '-b'])) !== 0) return false;
  for (const folder of packages) {
    const file = `${root}${folder}/package.json`;
    if (!existsSync(file) || !JSON.parse(readFileSync(file, 'utf8')).scripts?.build) continue;
    // Vite builds development code if the caller's NODE_ENV says so.
    const env = { NODE_ENV: 'production' };
    if ((await run('npm', ['run', '--silent', 'build', '-w', folder], { env })) !== 0) return false;
  }
  return true;
}
