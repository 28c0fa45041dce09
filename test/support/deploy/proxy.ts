import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.js';
import { deploy, textOf } from './files.js';

/** HAProxy with deploy/haproxy.cfg. */
export interface Proxy {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts HAProxy with the configuration of compose.yaml, whose names of hosts and ports are replaced
 * by ports of this machine.
 */
export async function startProxy(folder: string, ports: { engine: number; replica: number }): Promise<Proxy> {
  const config = textOf(join(deploy, 'haproxy.cfg'))
    .replaceAll(' engine:4000', ` 127.0.0.1:${ports.engine}`)
    .replaceAll('server-template replica 8 replica:4000', `server replica 127.0.0.1:${ports.replica}`)
    .replace('server engine engine check port 4000', `server engine 127.0.0.1 check port ${ports.engine}`);
  return start(folder, config, await freePort(10));
}

/**
 * Starts HAProxy with the configuration of compose.workers.yaml in the same way.
 * @param first the first of ten ports for listeners
 * @param workers the address at which each worker listens for connections, and the port of its probes
 */
export function startWorkersProxy(
  folder: string,
  service: number,
  first: number,
  workers: readonly { host: string; probes: number }[],
): Promise<Proxy> {
  const servers = workers.map(({ host, probes }, n) => `server worker${n} ${host} check addr 127.0.0.1 port ${probes}`);
  const config = textOf(join(deploy, 'haproxy.workers.cfg'))
    .replace('server-template service 8 service:4000', `server service 127.0.0.1:${service}`)
    .replace('server-template worker 8 worker check port 4000', servers.join('\n  '));
  return start(folder, config, first);
}

async function start(folder: string, text: string, first: number): Promise<Proxy> {
  const [http, health] = [await freePort(), await freePort()];
  const config = text
    .replace('bind :8080', `bind 127.0.0.1:${http}`)
    .replace('bind 127.0.0.1:8404', `bind 127.0.0.1:${health}`)
    .replace('bind :6514-6523', `bind 127.0.0.2:${first}-${first + 9}`);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, config);
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = `http://127.0.0.1:${http}`;
  for (;;) {
    const isUp = await fetch(`${url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    if (child.exitCode !== null) throw new Error(`HAProxy ended: ${output}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
