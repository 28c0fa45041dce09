import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface RabbitServer {
  port: number;
  /** Runs one of Debian's `amqp-tools`, which use RabbitMQ's library for C, as the user `guest`. */
  tool(name: string, ...args: string[]): Promise<string>;
  /** Starts it again with the same data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const run = promisify(execFile);

/** Starts a real RabbitMQ server with its default user. Takes about ten seconds. */
export async function startRabbit(): Promise<RabbitServer> {
  const folder = await mkdtemp(join(tmpdir(), 'rabbitmq-'));
  const port = await freePort(2);
  const config = join(folder, 'rabbitmq.conf');
  await writeFile(config, `listeners.tcp.local = 127.0.0.1:${port}\n`);
  await writeFile(join(folder, 'plugins'), '[].\n');
  const env = {
    HOME: folder,
    RABBITMQ_NODENAME: `test${port}@localhost`,
    RABBITMQ_DIST_PORT: String(port + 1),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_PID_FILE: join(folder, 'pid'),
  };
  const start = () =>
    startServer('/usr/lib/rabbitmq/bin/rabbitmq-server', [], port, 'apt-get install rabbitmq-server amqp-tools', env);
  let server = await start();
  const url = `amqp://guest:guest@127.0.0.1:${port}/%2f`;
  return {
    port,
    async tool(name, ...args) {
      const { stdout } = await run(name, ['-u', url, ...args]);
      return stdout.trimEnd();
    },
    async restart() {
      await server.kill();
      server = await start();
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
