import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * Runs a command and resolves to what it printed to stdout.
 * @throws Error with the command and its output if it exits with another code than 0
 */
export async function command(name, args, { cwd, env } = {}) {
  try {
    const { stdout } = await execute(name, args, {
      cwd,
      env: { ...process.env, ...env },
      maxBuffer: 64 * 2 ** 20,
      shell: process.platform === 'win32',
    });
    return stdout;
  } catch (error) {
    const output = [error.stdout, error.stderr].filter(Boolean).join('\n').trim();
    throw new Error(`"${name} ${args.join(' ')}" failed:\n${output || error.message}`, { cause: error });
  }
}
