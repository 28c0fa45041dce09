import { spawn } from 'node:child_process';
import { root } from './root.mjs';

/**
 * Runs a command in the repository and shows its output. Resolves to the exit code, or 1 if it was
 * ended by a signal.
 */
export function run(command, args, { env, cwd = root, quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'ignore', 'inherit'] : ['ignore', 'inherit', 'inherit'],
      shell: process.platform === 'win32',
    });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
