import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cache, root } from './root.mjs';
import { run } from './run.mjs';
import { fail, say } from './say.mjs';

/** Installs the npm packages if they are missing or do not match the lock file. */
export async function ensurePackages() {
  const lock = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex');
  const stamp = `${cache}/installed`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;

  say('Installing npm packages (about half a minute, only when the lock file changes) ...');
  // The bundled test browser and its launcher declare a newer Node version than they need: `error`
  // suppresses that warning.
  if ((await run('npm', ['ci', '--no-progress', '--no-audit', '--no-fund', '--loglevel=error'])) !== 0) {
    fail('npm ci failed. Its output above says why; without network access the packages must be in npm\u2019s cache.');
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(stamp, lock);
}
