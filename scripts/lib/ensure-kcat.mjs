import { execFileSync } from 'node:child_process';
import { run } from './run.mjs';
import { fail, say } from './say.mjs';

/** Makes sure that `kcat` is there: the tests of Kafka use it as another client, and the mock brokers inside of its library. */
export async function ensureKcat() {
  if (found()) return;
  const advice = 'Install kcat (Debian: apt-get install kcat) and run npm test again.';
  if (process.platform !== 'linux' || process.getuid?.() !== 0) fail(`kcat is missing. ${advice}`);
  say('Installing kcat from the Debian packages, for the tests of Kafka ...');
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env, quiet: true });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'kcat'], { env, quiet: true });
  if (!found()) fail(`kcat could not be installed. ${advice}`);
}

function found() {
  try {
    execFileSync('sh', ['-c', 'command -v kcat'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
