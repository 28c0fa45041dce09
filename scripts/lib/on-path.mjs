import { execFileSync } from 'node:child_process';

/** Where a command stands, as a shell finds it; `undefined` where there is none. */
export function onPath(command) {
  try {
    return execFileSync('sh', ['-c', `command -v ${command}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
