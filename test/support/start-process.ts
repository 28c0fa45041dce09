import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The demo as the last step of `npm start` runs it: its built files, in a separate process. */
export interface DemoProcess {
  hostUrl: string;
  serviceUrl: string;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts the demo and waits until it is ready.
 * @param environment variables that override those of this process
 * @throws Error with the process's output if it exits before it is ready
 */
export async function startProcess(environment: Record<string, string>): Promise<DemoProcess> {
  const file = fileURLToPath(new URL('../../demo/dist/start.js', import.meta.url));
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, SERVICE_PORT: '0', HOST_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [hostUrl, serviceUrl] = await addresses(child, ended);
  return {
    hostUrl,
    serviceUrl,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Resolves with the two URLs in the startup banner. */
function addresses(child: ChildProcess, ended: Promise<number | null>): Promise<[string, string]> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const [host, service] = printed.match(/https?:\/\/[\w.]+:\d+/g) ?? [];
      if (host !== undefined && service !== undefined && printed.includes('Ctrl+C')) resolve([host, service]);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    void ended.then((code) => reject(new Error(`The demo ended with ${code}:\n${printed}`)));
  });
}
