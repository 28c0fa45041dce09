import { readBuildState } from './build-cache.mjs';
import { manifestOf, packages, withDependencies } from './packages.mjs';
import { run } from './run.mjs';
import { root } from './root.mjs';
import { say } from './say.mjs';

/**
 * Builds what changed and resolves to whether that succeeded. Without changes, nothing runs.
 * @param only folders of the packages to build, with their dependencies; by default, all packages
 *   are built, and the tests are type-checked too
 */
export async function build({ only } = {}) {
  const state = readBuildState();
  const wanted = only ? withDependencies(only) : packages;
  const stale = wanted.filter((folder) => !state.isCurrent(folder));
  if (stale.length === 0 && (only || state.isChecked())) return true;

  say(stale.length > 0 ? `Building ${stale.join(', ')} ...` : 'Checking types ...');
  for (const folder of stale) state.clean(folder);
  const tsc = [`${root}node_modules/typescript/bin/tsc`, '-b', ...(only ? stale : [])];
  if ((await run(process.execPath, tsc)) !== 0) return false;
  for (const folder of stale) {
    if (manifestOf(folder).scripts?.build) {
      // Vite builds development code if the caller's NODE_ENV says so.
      const env = { NODE_ENV: 'production' };
      if ((await run('npm', ['run', '--silent', 'build', '-w', folder], { env })) !== 0) return false;
    }
    state.built(folder);
  }
  if (!only) state.checked();
  return true;
}
