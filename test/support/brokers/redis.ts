import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface RedisServer {
  port: number;
  /** Runs a command with Redis' own client, as the default user or with `-a`. */
  cli(...args: string[]): Promise<string>;
  /** Kills the server and starts an empty one on the same port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const run = promisify(execFile);

/** Starts a real Redis server that keeps nothing on disk. */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  const port = await freePort();
  const all = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...options];
  const start = () => startServer('redis-server', all, port, 'apt-get install redis-server redis-tools');
  let server = await start();
  return {
    port,
    async cli(...args) {
      const { stdout } = await run('redis-cli', ['-p', String(port), '--no-auth-warning', ...args]);
      return stdout.trimEnd();
    },
    async restart() {
      await server.kill();
      server = await start();
    },
    close: () => server.kill(),
  };
}
