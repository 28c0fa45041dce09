import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Appended, Clock, ListenAt, Sink } from '@connector-frame/engine/connector-api';
import { peerOf } from '../../monad-syslog/parse-message.js';
import { EndOfStream } from './byte-reader.js';
import { cannotListen } from './cannot-listen.js';
import { ProtocolError, type Peer, type Protocol } from './protocol.js';
import type { SharedServer } from './shared-servers.js';
import type { ListenTls } from './tls-options.js';

const MAX_CONNECTIONS = 1_000;
/** Bytes that are held for all connections of a server. */
const MAX_HELD = 128 * 1024 * 1024;
/** Milliseconds that an append waits for room before the sender gets a sign of life. */
const APPEND_MS = 5_000;
const RETRY_MS = 1_000;
/** Milliseconds without data after which a connection is closed. */
const IDLE_MS = 15 * 60_000;
const KEEP_ALIVE_MS = 60_000;
/** Milliseconds between two log entries about the same problem. */
const NOTE_MS = 60_000;
/** First byte of a TLS handshake. No protocol here begins with it. */
const TLS_HANDSHAKE = 22;

export interface PortSettings {
  protocol: Protocol;
  tls: ListenTls;
  /** Milliseconds after which a connection is closed, so that senders are distributed again. */
  maxConnectionMs?: number;
}

/** Listens on one port for a protocol over TCP or TLS, and delivers to every joined pipeline. */
export class PortServer implements SharedServer {
  #settings: PortSettings;
  #secure: TlsServer | undefined;
  readonly #at: ListenAt;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #sinks = new Set<Sink>();
  readonly #sockets = new Set<Socket>();
  readonly #serving = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #noted = new Map<string, number>();
  #held = 0;

  constructor(at: ListenAt, clock: Clock, settings: PortSettings) {
    this.#at = at;
    this.#clock = clock;
    this.#settings = settings;
    this.#secure = this.#createSecure(settings);
    this.#server = createServer({ keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }, (socket) =>
      this.#accept(socket),
    );
  }

  /** Applies to connections from now on. */
  set settings(settings: PortSettings) {
    this.#settings = settings;
    this.#secure = this.#createSecure(settings);
  }

  /** Starts listening. @throws ConnectorError */
  open(): Promise<void> {
    const { host, port } = this.#at;
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) => reject(cannotListen(error, this.#at)));
      this.#server.listen(port, host, () => {
        this.#server.removeAllListeners('error').on('error', () => undefined);
        resolve();
      });
    });
  }

  join(sink: Sink): void {
    this.#sinks.add(sink);
  }

  async leave(sink: Sink): Promise<boolean> {
    if (this.#sinks.size === 1 && this.#sinks.has(sink)) await this.#close();
    this.#sinks.delete(sink);
    return this.#sinks.size > 0;
  }

  async #close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#closing.abort();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await Promise.all(this.#serving);
  }

  #accept(socket: Socket): void {
    socket.on('error', () => undefined);
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      this.#note('too_many_connections', `More than ${MAX_CONNECTIONS} senders are connected; one was refused.`);
      return void socket.destroy();
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      const { required } = this.#settings.tls;
      if (first[0] === TLS_HANDSHAKE) this.#startTls(socket);
      else if (required) this.#reject(socket, 'plain_refused', 'A sender without encryption was refused.');
      else this.#start(socket);
    });
    return undefined;
  }

  #startTls(socket: Socket): void {
    if (!this.#secure) return this.#reject(socket, 'no_tls', 'A sender tried to encrypt, but there is no certificate.');
    this.#secure.emit('connection', socket);
    return undefined;
  }

  #createSecure({ tls: { options, verifiesAddress } }: PortSettings): TlsServer | undefined {
    if (!options) return undefined;
    const server = createTlsServer(options, (secured) => {
      const isForAddress = secured.getPeerX509Certificate()?.checkIP(peerOf(secured.remoteAddress)) !== undefined;
      secured.on('error', () => undefined);
      if (verifiesAddress && !isForAddress)
        this.#reject(secured, 'certificate_refused', 'A sender with a certificate for another address was refused.');
      else this.#start(secured);
    });
    server.on('tlsClientError', (_error, secured) =>
      this.#reject(secured, 'tls_failed', 'A TLS handshake with a sender failed, or its certificate is not allowed.'),
    );
    return server;
  }

  #reject(socket: Socket, code: string, message: string): void {
    socket.destroy();
    this.#note(code, message);
  }

  #start(stream: Socket): void {
    const { maxConnectionMs } = this.#settings;
    const timer = maxConnectionMs === undefined ? undefined : setTimeout(() => stream.destroy(), maxConnectionMs);
    const serving = this.#serve(stream).finally(() => {
      clearTimeout(timer);
      stream.destroy();
      this.#serving.delete(serving);
    });
    this.#serving.add(serving);
  }

  async #serve(stream: Socket): Promise<void> {
    const { remoteAddress, remotePort = 0 } = stream;
    const { protocol } = this.#settings;
    let held = 0;
    const release = (): void => {
      this.#held -= held;
      held = 0;
    };
    const peer: Peer = {
      address: peerOf(remoteAddress),
      port: remotePort,
      hold: (bytes) => {
        held += bytes;
        this.#held += bytes;
        if (this.#held > MAX_HELD) throw new ProtocolError('Senders have too many unfinished messages.');
      },
      release,
    };
    try {
      for await (const { lines, reply } of protocol.read(stream, peer)) {
        if (lines.length > 0 && !(await this.#store(lines, stream, peer))) return;
        if (reply) stream.write(reply);
      }
    } catch (error) {
      if (error instanceof ProtocolError) this.#note('protocol_error', `A sender was disconnected. ${error.message}`);
      else if (!(error instanceof EndOfStream) && !isConnectionError(error))
        this.#note('protocol_error', 'A sender was disconnected: it does not speak the protocol of this input.');
    } finally {
      release();
    }
  }

  /** Waits until every pipeline has stored the records. Returns false if the connection ends before. */
  async #store(lines: readonly string[], stream: Socket, peer: Peer): Promise<boolean> {
    const { signal } = this.#closing;
    const pending = new Set(this.#sinks);
    for (;;) {
      const results = await Promise.all(
        [...pending].map(async (sink) => [sink, await append(sink, lines, signal)] as const),
      );
      for (const [sink, result] of results) if (result?.stored === true || !this.#sinks.has(sink)) pending.delete(sink);
      if (pending.size === 0) return true;
      if (signal.aborted || stream.destroyed) return false;
      const keepAlive = this.#settings.protocol.keepAlive?.(peer);
      if (keepAlive) stream.write(keepAlive);
      await this.#clock.sleep(RETRY_MS, signal);
    }
  }

  #note(code: string, message: string): void {
    const now = this.#clock.now();
    if (now - (this.#noted.get(code) ?? -Infinity) < NOTE_MS) return;
    this.#noted.set(code, now);
    for (const sink of this.#sinks) sink.note?.({ level: 'warn', code, message });
  }
}

const isConnectionError = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:E[A-Z]+|ERR_STREAM_\w+|ERR_SSL_\w+|ABORT_ERR)$/.test(String(error.code));

/** A failure of the disk is retried like a full buffer. */
async function append(sink: Sink, lines: readonly string[], signal: AbortSignal): Promise<Appended | undefined> {
  try {
    return await sink.append(lines, { waitMs: APPEND_MS, signal });
  } catch {
    return undefined;
  }
}
