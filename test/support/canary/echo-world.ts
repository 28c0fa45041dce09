/** Servers that echo everything they receive in every part of a response. */
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createEgress, type Egress } from '../../../packages/engine/src/egress/index.js';
import type { Certificate } from '../certificate.js';
import { startKafkaBroker, type KafkaBroker } from '../kafka-broker.js';
import { listenTcp } from '../listener.js';
import { replyOf, startMailServer } from '../smtp-server.js';
import { startVendor, type Received, type Reply, type Vendor } from '../vendor.js';
import { ports } from './canary-configs.js';

/** How the HTTP server responds. */
export interface Mode {
  name: string;
  reply(request: Received): Reply;
}

const echoOf = ({ method, url, headers, body }: Received): string =>
  `${method} ${decodeURIComponent(url)} ${JSON.stringify(headers)} ${body}`;

function words(request: Received): Record<string, unknown> {
  const text = echoOf(request);
  const field = { reason: text, type: text, message: text, code: text };
  return {
    ok: false,
    ...Object.fromEntries(
      ['error', 'message', 'text', 'detail', 'code', 'version', 'next', 'access_token', 'token_type', 'cursor'].map(
        (name) => [name, text],
      ),
    ),
    errors: [text, field],
    error_description: text,
    errorSummary: text,
    status: 'failed',
    items: [{ index: { status: 400, error: field } }],
    headers: request.headers,
  };
}
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const statuses = [200, 201, 204, 400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 502, 503];
/** Each status with the request in JSON, some also in XML and plain text; and faults below HTTP. */
export const modes: readonly Mode[] = [
  ...statuses.map((status) => ({
    name: `${status} JSON`,
    reply: (request: Received): Reply => ({ status, body: words(request), headers: headersOf(request) }),
  })),
  ...[200, 403, 500].flatMap((status) => [
    {
      name: `${status} XML`,
      reply: (request: Received): Reply => ({
        status,
        headers: { 'content-type': 'application/xml' },
        body: `<Error><Code>${escaped(echoOf(request))}</Code><Message>${escaped(echoOf(request))}</Message></Error>`,
      }),
    },
    { name: `${status} text`, reply: (request: Received): Reply => ({ status, body: echoOf(request) }) },
  ]),
  {
    name: 'redirect',
    reply: (request) => ({
      status: 307,
      headers: { location: `https://elsewhere.example/?said=${encodeURIComponent(echoOf(request)).slice(0, 4_000)}` },
    }),
  },
  { name: 'drop', reply: () => ({ fault: 'drop' }) },
  { name: 'half', reply: (request) => ({ fault: 'half', body: words(request) }) },
];

/** Returns response headers with the percent-encoded request. */
const headersOf = (request: Received): Record<string, string> => ({
  'x-request': encodeURIComponent(echoOf(request)).slice(0, 4_000),
  'retry-after': '1',
});

export interface EchoWorld {
  /** Connects every address to these servers. */
  egress: Egress;
  /** May be changed at any time. */
  mode: Mode;
  /** Returns the number of requests and connections so far. */
  visits(): number;
  /** Returns everything received, to check that secrets were sent. */
  received(): string;
  close(): Promise<void>;
}

/**
 * Starts the servers.
 * @param says text that the Kafka brokers put into their responses
 * @param certificate of the servers that use TLS
 */
export async function openEchoWorld(says: string, certificate: Certificate): Promise<EchoWorld> {
  let received = '';
  let connections = 0;
  const world: { mode: Mode } = {
    mode: { name: '500 text', reply: (request) => ({ status: 500, body: echoOf(request) }) },
  };
  const http: Vendor = await startVendor((request) => {
    received += echoOf(request);
    return world.mode.reply(request);
  });
  const broker = { topics: {}, users: { nobody: 'nothing' }, says };
  const kafka: KafkaBroker = await startKafkaBroker(broker);
  const kafkaTls: KafkaBroker = await startKafkaBroker({ ...broker, tls: certificate });
  const postgres = await startEchoPostgres((text) => (received += text), certificate);
  const nats = await startEchoNats((text) => (received += text));
  const smtp = await startMailServer({
    tls: certificate,
    user: { name: 'nobody', password: 'nothing' },
    more: {
      onAuth({ username, password }, _session, done) {
        received += `${username} ${password}`;
        done(replyOf(535, `${username} ${password} is wrong`));
      },
    },
  });
  const real = createEgress({ allow: ['127.0.0.1/32'], timeoutMs: 2_000 });
  return {
    get mode() {
      return world.mode;
    },
    set mode(mode) {
      world.mode = mode;
    },
    visits: () => http.requests.length + connections,
    received: () => received,
    egress: {
      fetch: (address, init) => {
        const { pathname, search } = new URL(address);
        return real.fetch(http.origin + pathname + search, init);
      },
      connect: ({ port, ...rest }) => {
        connections += 1;
        const to =
          { [ports.kafka]: kafka, [ports.kafkaTls]: kafkaTls, [ports.smtp]: smtp, [ports.nats]: nats }[port] ??
          postgres;
        return real.connect({ ...rest, host: '127.0.0.1', port: to.port });
      },
    },
    async close() {
      real.close?.();
      await Promise.all([http.close(), kafka.close(), kafkaTls.close(), postgres.close(), smtp.close(), nats.close()]);
    },
  };
}

/**
 * Starts a NATS server that rejects the sign-in with a message that contains it.
 * https://docs.nats.io/reference/reference-protocols/nats-protocol
 */
async function startEchoNats(onText: (text: string) => void): Promise<{ port: number; close(): Promise<void> }> {
  return listenTcp((socket) => {
    socket.on('error', () => undefined);
    socket.write(`INFO ${JSON.stringify({ server_id: 'echo', version: '2.9.10', max_payload: 1_048_576 })}\r\n`);
    socket.on('data', (chunk: Buffer) => {
      onText(chunk.toString());
      socket.end(`-ERR '${chunk.toString().replaceAll(/['\r\n]/g, ' ')}'\r\n`);
    });
  }, '127.0.0.1');
}

/**
 * Starts a PostgreSQL server that requests the password in clear text and rejects it with a message
 * that contains it. https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
async function startEchoPostgres(
  onText: (text: string) => void,
  tls: Certificate,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      // A password message starts with `p`. Earlier messages have no type: the TLS request (8
      // bytes) and the startup message.
      if (chunk[0] === 0x70) {
        onText(chunk.toString());
        socket.end(errorResponse(chunk.subarray(5).toString().replaceAll('\0', '')));
      } else if (chunk.length === 8) {
        socket.removeAllListeners('data').write('S');
        serve(new TLSSocket(socket, { isServer: true, ...tls }));
      } else socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    });
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function errorResponse(text: string): Buffer {
  const fields = ['SFATAL', 'VFATAL', 'C28P01', `Mpassword "${text}" is wrong`, `D${text}`, `H${text}`, `W${text}`];
  const body = Buffer.from(`${fields.join('\0')}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from('E'), length, body]);
}
