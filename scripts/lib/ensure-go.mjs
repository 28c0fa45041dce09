import { execFileSync } from 'node:child_process';
import { onPath } from './on-path.mjs';
import { say } from './say.mjs';

/** Minor version of Go 1 that the generator of clients needs; see test/openapi-client/go/go.mod. */
const MINOR = 25;

/**
 * Looks for Go, with which the long run compiles a generated client. Not installed: Debian's is often
 * older.
 */
export async function ensureGo() {
  const [, minor = '0'] = onPath('go')
    ? (/go1\.(\d+)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' })) ?? [])
    : [];
  if (Number(minor) >= MINOR) return true;
  say(`Go 1.${MINOR} is missing: the test of a generated Go client is skipped.`);
  return undefined;
}
