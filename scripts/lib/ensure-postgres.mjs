import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { run } from './run.mjs';
import { fail, say } from './say.mjs';

/** Makes sure that a PostgreSQL server can be started by the tests: from the path, from Debian's folders, or by installing it. */
export async function ensurePostgres() {
  if (found()) return;
  const advice = 'Install PostgreSQL 15 or later (Debian: apt-get install postgresql) and run npm test again.';
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !onPath('apt-get'))
    fail(`PostgreSQL is missing. ${advice}`);
  say('Installing PostgreSQL from the Debian packages, for the tests that need a server ...');
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env, quiet: true });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'postgresql'], { env, quiet: true });
  if (!found()) fail(`PostgreSQL could not be installed. ${advice}`);
}

function found() {
  const debian = '/usr/lib/postgresql';
  if (onPath('initdb') && onPath('postgres')) return true;
  return existsSync(debian) && readdirSync(debian).some((version) => existsSync(`${debian}/${version}/bin/initdb`));
}

function onPath(command) {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
