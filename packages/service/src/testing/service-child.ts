import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isRecord } from '@connector-frame/engine';

/** The service as a process that is going to be killed. */
export interface ServiceChild {
  /** Its address; `undefined` when it ended before it had one. */
  url: Promise<string | undefined>;
  /** Milliseconds from its start to its first answer. */
  startedIn: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; stderr: string }>;
}

export function startChild(environment: Readonly<Record<string, string>>): ServiceChild {
  const began = performance.now();
  // From here and from the compiled file alike.
  const file = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
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

/** Calls the API of a service; `undefined`: it refused, or did not answer. */
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
      const answer: unknown = response.status === 204 ? {} : await response.json();
      return response.ok && isRecord(answer) ? answer : undefined;
    } catch {
      return undefined;
    }
  };
