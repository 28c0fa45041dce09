import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificate } from '../certificate.js';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface NatsServer {
  port: number;
  /** PEM of the authority of its certificate, if it has TLS. */
  ca: string;
  /** Publishes over a plain socket, as the user `root`. */
  publish(subject: string, message: string): Promise<void>;
  /** Returns the next messages of a subject, and is ready when `ready` resolves. */
  next(subject: string, count: number): { ready: Promise<void>; messages: Promise<string[]> };
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a real NATS server. @param authorization its block of this name */
export async function startNats(authorization: string, hasTls = false): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'nats-'));
  const port = await freePort();
  const { cert, key } = createCertificate('127.0.0.1');
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  const tls = hasTls ? `tls { cert_file: "${folder}/cert.pem", key_file: "${folder}/key.pem" }` : '';
  const config = `listen: "127.0.0.1:${port}"\nmax_payload: 10000\nauthorization { ${authorization} }\n${tls}\n`;
  await writeFile(join(folder, 'nats.conf'), config);
  const start = () =>
    startServer('nats-server', ['-c', join(folder, 'nats.conf')], port, 'apt-get install nats-server');
  let server = await start();

  /**
   * Sends protocol lines and calls `read` with what the server sends.
   * https://docs.nats.io/reference/reference-protocols/nats-protocol
   */
  function talk(lines: string, read: (text: string) => boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (!read(text)) return;
        socket.destroy();
        resolve(text);
      });
      socket.write(`CONNECT {"verbose":false,"user":"root","pass":"canary-root"}\r\n${lines}PING\r\n`);
    });
  }

  return {
    port,
    ca: cert,
    publish: async (subject, message) =>
      void (await talk(`PUB ${subject} ${Buffer.byteLength(message)}\r\n${message}\r\n`, (text) =>
        text.includes('PONG'),
      )),
    next(subject, count) {
      let isReady: () => void = () => undefined;
      const ready = new Promise<void>((resolve) => (isReady = resolve));
      const found = (text: string) =>
        [...text.matchAll(/MSG (\S+) 1 \d+\r\n(.*)\r\n/g)].map(([, on, of]) => `${on} ${of}`);
      const read = async (): Promise<string[]> =>
        found(
          await talk(`SUB ${subject} 1\r\n`, (text) => {
            if (text.includes('PONG')) isReady();
            return found(text).length >= count;
          }),
        );
      return { ready, messages: read() };
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
