import { execFileSync } from 'node:child_process';

/** Returns the path of a command as the shell resolves it, or `undefined` if it is not found. */
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
