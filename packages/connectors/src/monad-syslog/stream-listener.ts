import { constants } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';
import type { ListenAt } from '@connector-frame/engine/connector-api';
import { FrameSplitter, type Frame } from './frame-splitter.js';
import type { LossCounter } from './loss-counter.js';
import { peerOf, type Origin } from './parse-message.js';

/** Maximum concurrent connections. Each may buffer one message and the chunk it arrived in. */
const MAX_CONNECTIONS = 1_000;
/**
 * Time without data after which a connection with an unfinished message is closed, in milliseconds.
 */
const UNFINISHED = 300_000;
const KEEP_ALIVE = 60_000;
const HANDSHAKE = 15_000;
/** First byte of a TLS handshake record. No syslog message begins with it. */
const TLS_HANDSHAKE = 22;

export interface StreamOptions {
  at: ListenAt;
  losses: LossCounter;
  /**
   * SHA-256 fingerprints of allowed client certificates, uppercase without colons. Empty: any
   * sender is allowed.
   */
  fingerprints(): ReadonlySet<string>;
  /**
   * Stores messages. No more is read from the connection until this resolves.
   *
   * @param read splits the received bytes into messages; called when there is room for them
   */
  take(read: () => readonly Frame[], origin: Origin): Promise<void>;
}

/** Listens for TCP and TLS on one port; the first byte of a connection distinguishes them. */
export class StreamListener {
  readonly #server: Server;
  readonly #secure: SecureContext | undefined;
  /** Connections in order of arrival; `true` once a message was received. */
  readonly #sockets = new Map<Socket, boolean>();
  readonly #serving = new Set<Promise<void>>();
  readonly #options: StreamOptions;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { tls } = options.at;
    this.#server = createServer({ keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE }, (socket) =>
      this.#accept(socket),
    );
    // Disable resumption: the client does not present its certificate in a resumed session.
    if (tls) this.#secure = createSecureContext({ ...tls, secureOptions: constants.SSL_OP_NO_TICKET });
  }

  /** Starts listening. @returns the port */
  open(): Promise<number> {
    const { host, port } = this.#options.at;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        const address = this.#server.address();
        resolve(typeof address === 'object' && address ? address.port : port);
      });
    });
  }

  /** Stops reading; resolves once all received messages are stored or dropped. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
    await Promise.all(this.#serving);
  }

  #accept(socket: Socket): void {
    const { losses } = this.#options;
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      losses.add('too_many');
      // Close the oldest connection that has not sent a message, otherwise the new one.
      const [idle] = [...this.#sockets].find(([, hasSent]) => !hasSent) ?? [socket];
      idle.destroy();
      // The `close` event fires later. Remove the socket now, so that it does not make room for the
      // next connection as well.
      this.#sockets.delete(idle);
      if (idle === socket) return;
    }
    this.#sockets.set(socket, false);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (first[0] === TLS_HANDSHAKE) this.#startTls(socket);
      else if (this.#options.fingerprints().size > 0) this.#reject(socket, 'plain_refused');
      else this.#serve(socket, socket, 'tcp');
    });
  }

  #startTls(socket: Socket): void {
    const { losses } = this.#options;
    if (!this.#secure) return this.#reject(socket, 'no_tls');
    const allowed = this.#options.fingerprints();
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
      if (requestCert && !allowed.has(fingerprint)) this.#reject(secured, 'certificate_refused');
      else this.#serve(secured, socket, 'tls');
    });
    return undefined;
  }

  #reject(socket: Socket, loss: 'no_tls' | 'plain_refused' | 'certificate_refused'): void {
    this.#options.losses.add(loss);
    socket.destroy();
  }

  #serve(socket: Socket, wire: Socket, transport: 'tcp' | 'tls'): void {
    const markActive = (): unknown => this.#sockets.has(wire) && this.#sockets.set(wire, true);
    const serving = this.#read(socket, transport, markActive).finally(() => this.#serving.delete(serving));
    this.#serving.add(serving);
  }

  async #read(socket: Socket, transport: 'tcp' | 'tls', markActive: () => void): Promise<void> {
    const origin: Origin = { transport, peer: peerOf(socket.remoteAddress) };
    const splitter = new FrameSplitter();
    socket.setTimeout(UNFINISHED, () => splitter.pending && socket.destroy());
    const chunks: AsyncIterable<Buffer> = socket;
    try {
      for await (const chunk of chunks) {
        await this.#options.take(() => {
          const frames = splitter.push(chunk);
          if (frames.length > 0) markActive();
          return frames;
        }, origin);
      }
    } catch {
      // The connection broke: keep what was received.
    }
    await this.#options.take(() => splitter.end(), origin);
  }
}
