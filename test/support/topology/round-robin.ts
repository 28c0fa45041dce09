import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.js';

/** A proxy that sends each request to the next of several servers. */
export interface RoundRobin {
  /** Waits until this many servers receive requests. */
  ready(count: number): Promise<void>;
  /** Returns how many requests each server has received, by its port. */
  requests(): Promise<Record<number, number>>;
  close(): Promise<void>;
}

const running = new Set<() => void>();
process.once('exit', () => running.forEach((stop) => stop()));

/**
 * Starts HAProxy. It replaces `X-Forwarded-For`, and passes streams of events on as they arrive. It does not
 * wait for the servers: without any, it responds 503.
 * @param port of 127.0.0.1 on which it listens
 * @param servers their ports on 127.0.0.1
 */
export async function startRoundRobin(port: number, servers: readonly number[]): Promise<RoundRobin> {
  const folder = await mkdtemp(join(tmpdir(), 'round-robin-'));
  const admin = await freePort();
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configOf(port, admin, servers));
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const stop = (): void => void child.kill('SIGKILL');
  running.add(stop);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      running.delete(stop);
      resolve();
    };
    child.once('error', end).once('close', end);
  });
  const statistics = (): Promise<string> => fetch(`http://127.0.0.1:${admin}/;csv`).then((response) => response.text());
  while (child.exitCode === null && !(await statistics().catch(() => ''))) await sleep(20);
  if (child.exitCode !== null) throw new Error(`HAProxy did not start: ${output}`);
  /** Returns a value of each server, by its port. */
  async function read(name: string): Promise<[port: number, value: string][]> {
    const [header, ...rows] = (await statistics()).split('\n').map((line) => line.split(','));
    const column = header?.indexOf(name) ?? -1;
    const own = rows.filter(([backend, server]) => backend === 'service' && server?.startsWith('on-') === true);
    return own.map((row) => [Number(row[1]?.slice(3)), row[column] ?? '']);
  }
  return {
    async ready(count) {
      while ((await read('status')).filter(([, status]) => status.startsWith('UP')).length < count) await sleep(50);
    },
    async requests() {
      return Object.fromEntries((await read('req_tot')).map(([server, total]) => [server, Number(total)]));
    },
    async close() {
      stop();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const configOf = (port: number, admin: number, servers: readonly number[]): string => `
global
  maxconn 1000
defaults
  mode http
  # Only what no server has received is sent again.
  retries 3
  option redispatch 1
  timeout connect 5s
  timeout check 10s
  timeout client 65s
  timeout server 65s
  http-error status 503 content-type application/json string '{"error":"No replica is ready."}'
frontend http
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-For %[src]
  default_backend service
backend service
  balance roundrobin
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host service
  default-server check inter 1s fall 2 rise 1
${servers.map((each) => `  server on-${each} 127.0.0.1:${each}`).join('\n')}
frontend admin
  bind 127.0.0.1:${admin}
  stats enable
  stats uri /
`;
