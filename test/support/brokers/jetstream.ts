import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.js';
import { startServer, type Server } from './start-server.js';

export interface JetStreamServer {
  port: number;
  url: string;
  /** Folder with what it stores. */
  store: string;
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port and storage. */
  start(): Promise<void>;
  /** Ends it and deletes its storage. */
  close(): Promise<void>;
}

export interface JetStreamServerOptions {
  /** Further lines of its configuration. */
  config?: string;
  /** Further lines of the block `jetstream`. */
  storage?: string;
}

/** Starts a real NATS server with JetStream on a free port of 127.0.0.1. */
export async function startJetStream({
  config = '',
  storage = '',
}: JetStreamServerOptions = {}): Promise<JetStreamServer> {
  const folder = await mkdtemp(join(tmpdir(), 'jetstream-'));
  const port = await freePort();
  const lines = [`listen: "127.0.0.1:${port}"`, `jetstream { store_dir: "${folder}/store"\n${storage}\n}`, config];
  await writeFile(join(folder, 'nats.conf'), lines.join('\n'));
  let server: Server | undefined;
  const start = async (): Promise<void> => {
    server = await startServer('nats-server', ['-c', join(folder, 'nats.conf')], port, 'apt-get install nats-server');
  };
  await start();
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    store: join(folder, 'store'),
    start,
    kill: async () => server?.kill(),
    async close() {
      await server?.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a cluster of NATS servers with JetStream. */
export async function startJetStreamCluster(size: number): Promise<JetStreamServer[]> {
  const ports = await Promise.all(Array.from({ length: size }, () => freePort()));
  const routes = ports.map((port) => `nats-route://127.0.0.1:${port}`).join(', ');
  return Promise.all(
    ports.map((port, index) =>
      startJetStream({
        config: `server_name: "n${index}"\ncluster { name: "test", listen: "127.0.0.1:${port}", routes: [${routes}] }`,
      }),
    ),
  );
}
