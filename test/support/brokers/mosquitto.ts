import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCertificate } from '../certificate.js';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface Mosquitto {
  port: number;
  /** Port with TLS, for 127.0.0.1. */
  tlsPort: number;
  /** PEM of the authority of its certificate. */
  ca: string;
  user: string;
  password: string;
  /** Publishes with Mosquitto's own client and QoS 1. */
  publish(topic: string, message: string): Promise<void>;
  /** Returns the next messages of a topic, as `topic message`. */
  next(topic: string, count: number): Promise<string[]>;
  /** Kills the broker and starts an empty one on the same ports. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const run = promisify(execFile);
const user = 'logs';
const password = 'canary-password';

/** Starts a real MQTT broker with one user, who may not use topics below `secret`. */
export async function startMosquitto(): Promise<Mosquitto> {
  const folder = await mkdtemp(join(tmpdir(), 'mosquitto-'));
  const port = await freePort(2);
  const { cert, key } = createCertificate('127.0.0.1');
  const path = (name: string) => join(folder, name);
  const files = { 'cert.pem': cert, 'key.pem': key, acl: `user ${user}\ntopic readwrite open/#\n` };
  for (const [name, text] of Object.entries(files)) await writeFile(path(name), text);
  await run('mosquitto_passwd', ['-b', '-c', path('passwords'), user, password]);
  const tls = `certfile ${path('cert.pem')}\nkeyfile ${path('key.pem')}`;
  await writeFile(
    path('mosquitto.conf'),
    `user root
allow_anonymous false
password_file ${path('passwords')}
acl_file ${path('acl')}
listener ${port + 1} 127.0.0.1
${tls}
listener ${port} 127.0.0.1
`,
  );
  const start = () =>
    startServer('mosquitto', ['-c', path('mosquitto.conf')], port, 'apt-get install mosquitto mosquitto-clients');
  let server = await start();
  const client = ['-h', '127.0.0.1', '-p', String(port), '-u', user, '-P', password, '-q', '1'];
  return {
    port,
    tlsPort: port + 1,
    ca: cert,
    user,
    password,
    publish: async (topic, message) => void (await run('mosquitto_pub', [...client, '-t', topic, '-m', message])),
    async next(topic, count) {
      const args = [...client, '-V', '5', '-t', topic, '-C', String(count), '-W', '20', '-v'];
      const { stdout } = await run('mosquitto_sub', args);
      return stdout.trimEnd().split('\n');
    },
    async restart() {
      await server.kill();
      server = await start();
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true });
    },
  };
}
