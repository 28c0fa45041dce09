import { constants } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';
import type { ListenAt } from '../connector-code.js';
import { FrameSplitter, type Frame } from './frame-splitter.js';
import type { Losses } from './losses.js';
import { peerOf, type Origin } from './syslog-record.js';

/** Connections at a time. Each may hold one message, and what it came with. */
const MAX_CONNECTIONS = 1_000;
/** Milliseconds for which a message may stay unfinished without a byte of it. */
const UNFINISHED = 300_000;
const KEEP_ALIVE = 60_000;
const HANDSHAKE = 15_000;
/** First byte of a TLS record that shakes hands. No message begins with it. */
const TLS_HANDSHAKE = 22;

export interface StreamOptions {
  at: ListenAt;
  losses: Losses;
  /** SHA-256 of allowed client certificates, in upper case without colons; none: anybody may send. */
  fingerprints(): ReadonlySet<string>;
  /**
   * Resolves once they are stored: until then no more is read from that connection.
   * @param read what has come, cut into messages; called when there is room for them
   */
  take(read: () => readonly Frame[], origin: Origin): Promise<void>;
}

/** TCP, with TLS on the same port: the first byte tells. */
export class StreamListener {
  readonly #server: Server;
  readonly #secure: SecureContext | undefined;
  /** In the order they came; `true`: a message has come. */
  readonly #sockets = new Map<Socket, boolean>();
  readonly #serving = new Set<Promise<void>>();

  constructor(private readonly options: StreamOptions) {
    const { tls } = options.at;
    this.#server = createServer({ keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE }, (socket) =>
      this.#accept(socket),
    );
    // A resumed session would not show its certificate again.
    if (tls) this.#secure = createSecureContext({ ...tls, secureOptions: constants.SSL_OP_NO_TICKET });
  }

  /** @returns the port */
  open(): Promise<number> {
    const { host, port } = this.options.at;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        const address = this.#server.address();
        resolve(typeof address === 'object' && address ? address.port : port);
      });
    });
  }

  /** Reads no more; resolves once what was read is stored or given up. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
    await Promise.all(this.#serving);
  }

  #accept(socket: Socket): void {
    const { losses } = this.options;
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      losses.add('too_many');
      // One that has sent nothing yet is worth less than one that may.
      const [silent] = [...this.#sockets].find(([, spoken]) => !spoken) ?? [socket];
      silent.destroy();
      // Its own end is told later: until then the next one must not be let in for it again.
      this.#sockets.delete(silent);
      if (silent === socket) return;
    }
    this.#sockets.set(socket, false);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (first[0] === TLS_HANDSHAKE) this.#shakeHands(socket);
      else if (this.options.fingerprints().size > 0) this.#refuse(socket, 'plain_refused');
      else this.#serve(socket, socket, 'tcp');
    });
  }

  #shakeHands(socket: Socket): void {
    const { losses } = this.options;
    if (!this.#secure) return this.#refuse(socket, 'no_tls');
    const allowed = this.options.fingerprints();
    const requestCert = allowed.size > 0;
    const options = { isServer: true, secureContext: this.#secure, requestCert, rejectUnauthorized: false };
    const secured = new TLSSocket(socket, options);
    const late = setTimeout(() => secured.destroy(), HANDSHAKE);
    const failed = (): void => {
      clearTimeout(late);
      losses.add('tls_failed');
    };
    secured.on('error', () => undefined);
    secured.once('close', failed);
    secured.once('secure', () => {
      clearTimeout(late);
      secured.off('close', failed);
      const fingerprint = secured.getPeerX509Certificate()?.fingerprint256.replaceAll(':', '') ?? '';
      if (requestCert && !allowed.has(fingerprint)) this.#refuse(secured, 'certificate_refused');
      else this.#serve(secured, socket, 'tls');
    });
    return undefined;
  }

  #refuse(socket: Socket, loss: 'no_tls' | 'plain_refused' | 'certificate_refused'): void {
    this.options.losses.add(loss);
    socket.destroy();
  }

  #serve(socket: Socket, wire: Socket, transport: 'tcp' | 'tls'): void {
    const spoken = (): unknown => this.#sockets.has(wire) && this.#sockets.set(wire, true);
    const serving = this.#read(socket, transport, spoken).finally(() => this.#serving.delete(serving));
    this.#serving.add(serving);
  }

  async #read(socket: Socket, transport: 'tcp' | 'tls', spoken: () => void): Promise<void> {
    const origin: Origin = { transport, peer: peerOf(socket.remoteAddress) };
    const splitter = new FrameSplitter();
    socket.setTimeout(UNFINISHED, () => splitter.pending && socket.destroy());
    const chunks: AsyncIterable<Buffer> = socket;
    try {
      for await (const chunk of chunks) {
        await this.options.take(() => {
          const frames = splitter.push(chunk);
          if (frames.length > 0) spoken();
          return frames;
        }, origin);
      }
    } catch {
      // The connection broke. What had come is kept.
    }
    await this.options.take(() => splitter.end(), origin);
  }
}
