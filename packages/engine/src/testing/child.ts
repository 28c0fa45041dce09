import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A program that can be started repeatedly as a separate process. */
export interface Program {
  /** @param command command that runs the program, such as `['prlimit', '--fsize=1000']` */
  start(args: readonly string[], command?: readonly string[]): Running;
  remove(): Promise<void>;
}

export interface Running {
  readonly process: ChildProcess;
  /** Lines it has printed; complete once `ended` is resolved. */
  readonly lines: string[];
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/**
 * Compiles a program, so that tests run the sources and not an old build.
 * @param source file URL of its TypeScript source
 */
export async function compile(source: URL): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'program-'));
  const file = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['source'],
    // CommonJS packages in the bundle need `require`.
    banner: {
      js: `import { createRequire as newRequire } from 'node:module'; const require = newRequire(import.meta.url);`,
    },
  });
  return {
    start: (args, command = []) => start([...command, process.execPath, file, ...args]),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function start([command = '', ...args]: readonly string[]): Running {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const closed = new Promise<void>((resolve) => reader.once('close', resolve));
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => void closed.then(() => resolve(code ?? signal ?? 'gone')));
  });
  return { process: child, lines, ended };
}
