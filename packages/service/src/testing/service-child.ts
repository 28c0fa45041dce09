import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isRecord } from '@connector-frame/engine';

/** A service process that the test is going to kill. */
export interface ServiceChild {
  /** Base URL. `undefined` if the process ended before it had one. */
  url: Promise<string | undefined>;
  /** Milliseconds from its start until it logs its URL. */
  startedIn: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; stderr: string }>;
}

// Resolves from `src` and from `dist`.
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/**
 * Starts the service.
 * @param file entry of the service
 */
export function startChild(environment: Readonly<Record<string, string>>, file = MAIN): ServiceChild {
  const began = performance.now();
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env['PATH'] ?? '', SERVICE_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, stderr })),
  );
  const url = new Promise<string | undefined>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const [, found] = /"url":"([^"]+)".*"service started"/.exec(stdout) ?? [];
      if (found === undefined) return;
      resolve(found);
      stdout = '';
    });
    void ended.then(() => resolve(undefined));
  });
  return {
    url,
    startedIn: url.then(() => performance.now() - began),
    kill: (signal) => child.kill(signal),
    ended,
  };
}

/** Calls the API of a service. Resolves with `undefined` if the request fails or is rejected. */
export type Call = (method: string, path: string, body?: object) => Promise<Record<string, unknown> | undefined>;

export const callerOf =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    try {
      const response = await fetch(url + path, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const result: unknown = response.status === 204 ? {} : await response.json();
      return response.ok && isRecord(result) ? result : undefined;
    } catch {
      return undefined;
    }
  };
