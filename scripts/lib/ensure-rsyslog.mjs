import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { run } from './run.mjs';
import { fail, say } from './say.mjs';

/** Makes sure that rsyslog, with TLS, can be started by the tests: the one that is there, or by installing it. */
export async function ensureRsyslog() {
  if (found()) return;
  const advice = 'Install it (Debian: apt-get install rsyslog rsyslog-openssl rsyslog-gnutls) and run npm test again.';
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !onPath('apt-get'))
    fail(`rsyslog is missing. ${advice}`);
  say('Installing rsyslog from the Debian packages, for the tests that need a sender of syslog ...');
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const packages = ['rsyslog', 'rsyslog-openssl', 'rsyslog-gnutls'];
  await run('apt-get', ['update', '-qq'], { env, quiet: true });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env, quiet: true });
  if (!found()) fail(`rsyslog could not be installed. ${advice}`);
}

function found() {
  const folders = ['/usr/lib', ...folderNames('/usr/lib'), '/usr/local/lib'].map((folder) => `${folder}/rsyslog`);
  const drivers = ['lmnsd_ossl.so', 'lmnsd_gtls.so'];
  return onPath('rsyslogd') && drivers.every((driver) => folders.some((folder) => existsSync(`${folder}/${driver}`)));
}

function folderNames(path) {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);
}

function onPath(command) {
  try {
    execFileSync('sh', ['-c', `PATH=$PATH:/usr/sbin; command -v ${command}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
