import { execFileSync, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The service in a separate process. */
export interface ServiceProcess {
  url: string;
  pid: number;
  kill(signal: NodeJS.Signals): void;
  /** What it has written to its outputs. */
  output(): string;
  /** Resolves with the exit code, null after a signal. */
  exited: Promise<number | null>;
}

let main: string | undefined;

/**
 * Returns the entry of the service: its compiled sources, because Node can't run TypeScript, in a
 * bundle, because loading its 1,600 modules takes most of the CPU time of a start. Compiles and
 * bundles them first if the sources have changed. The first call in a process does that.
 */
export function mainFile(): string {
  if (main !== undefined) return main;
  buildService();
  main = execFileSync(process.execPath, [`${root}test/support/bundle-service.mjs`], { encoding: 'utf8' }).trim();
  return main;
}

/** Returns the entry of a worker: see `mainFile`. */
export const workerFile = (): string => join(dirname(mainFile()), 'worker-main.mjs');

let isBuilt = false;

/** Compiles the service's sources to `dist`. */
export function buildService(): void {
  if (isBuilt) return;
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-b', 'packages/service'], { cwd: root });
  isBuilt = true;
}

/** Runs a command of the service and returns its output. */
export function runService(
  words: readonly string[],
  environment: Record<string, string>,
  file: string = mainFile(),
): string {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  return execFileSync(process.execPath, [file, ...words], { env, encoding: 'utf8' });
}

const running = new Set<() => void>();
process.once('exit', () => running.forEach((stop) => stop()));

/** Entry as operators start it. */
export const MAIN = `${root}packages/service/dist/main.js`;

/**
 * Starts the process and waits until it reports that it is ready or exits.
 * @param command program and arguments; default: Node with `mainFile()`
 */
export async function startService(
  environment: Record<string, string>,
  [program = process.execPath, ...words]: readonly string[] = [process.execPath, mainFile()],
): Promise<ServiceProcess | { exitCode: number | null; stderr: string }> {
  const child = spawn(program, words, {
    env: { PATH: process.env['PATH'] ?? '', SERVICE_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => child.kill('SIGKILL');
  running.add(stop);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      running.delete(stop);
      resolve(code);
    });
  });
  let stdout = '';
  const url = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const [, found] = /"url":"([^"]+)".*"(?:service|worker) started"/.exec(stdout) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const first = await Promise.race([url, exited]);
  if (typeof first !== 'string') return { exitCode: first, stderr };
  return {
    url: first,
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    output: () => stdout + stderr,
    exited,
  };
}

/** Like `startService`, but throws if the service does not start. */
export async function mustStart(
  environment: Record<string, string>,
  command?: readonly string[],
): Promise<ServiceProcess> {
  const service = await startService(environment, command);
  if ('stderr' in service) throw new Error(`The service did not start (${service.exitCode}): ${service.stderr}`);
  return service;
}
