import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { root } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/**
 * Ensures that a program from npm is installed which only the long run uses: `npm ci` of the whole
 * repository should not take longer for it. Resolves to `undefined` if npm fails; its tests then
 * fail and say what is missing.
 * @param name display name
 * @param folder folder of its package.json and lock file, in test/programs
 */
async function ensureNpmProgram(name, folder) {
  const cwd = `${root}test/programs/${folder}`;
  const lock = createHash('sha256')
    .update(readFileSync(`${cwd}/package-lock.json`))
    .digest('hex');
  const stamp = `${cwd}/node_modules/.installed`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return true;

  say(`Installing ${name} from npm ...`);
  // Tests resolve the peers, such as React, from the repository.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  if ((await run('npm', ['ci', ...options], { cwd })) !== 0) return undefined;
  writeFileSync(stamp, lock);
  return true;
}

export const ensureAzurite = () => ensureNpmProgram('Azurite', 'azurite');
export const ensureNext = () => ensureNpmProgram('Next.js', 'next');
