import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { EgressError } from '@connector-frame/engine/connector-api';
import type { ConnectionOptions } from 'nats-core';
import type { Transport, TransportFactory } from 'nats-core/internal';

/** Options with the connection that the client is to use. */
export interface DialedOptions extends ConnectionOptions {
  /** An open connection. */
  socket: Socket;
  /** What the server sent first. */
  greeting: Buffer;
}

const isDialed = (options: ConnectionOptions): options is DialedOptions => 'socket' in options;

class DialedTransport implements Transport {
  readonly lang = 'connector-frame';
  readonly version = '1';
  isClosed = false;
  closeError?: Error;
  #socket: Socket | undefined;
  readonly #chunks: Uint8Array[] = [];
  #wake: (() => void) | undefined;
  readonly #closed: Promise<void | Error>;
  #setClosed: (error: void | Error) => void = () => undefined;

  constructor() {
    this.#closed = new Promise((resolve) => (this.#setClosed = resolve));
  }

  connect(_server: unknown, options: ConnectionOptions): Promise<void> {
    if (!isDialed(options)) return Promise.reject(new Error('no connection'));
    const { socket, greeting } = options;
    this.#socket = socket;
    this.#receive(greeting);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('error', (error) => this.#end(error));
    socket.once('close', () => this.#end());
    // Paused since the greeting.
    socket.resume();
    if (socket.destroyed) this.#end();
    return Promise.resolve();
  }

  #receive(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  #end(error?: Error): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (error) this.closeError = error;
    this.#wake?.();
    this.#setClosed(error);
  }

  async *[Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) yield chunk;
      else if (this.isClosed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  isEncrypted(): boolean {
    return this.#socket instanceof TLSSocket;
  }

  send(frame: Uint8Array): void {
    if (!this.isClosed) this.#socket?.write(frame);
  }

  close(error?: Error): Promise<void> {
    // Sends what was written before.
    this.#socket?.end(() => this.#socket?.destroy());
    this.#end(error);
    return Promise.resolve();
  }

  disconnect(): void {
    this.#socket?.destroy();
    this.#end();
  }

  closed(): Promise<void | Error> {
    return this.#closed;
  }

  discard(): void {
    this.#socket?.destroy();
  }
}

/** Lets the client use a connection that was opened through the egress guard, and no other. */
export const transportFactory: TransportFactory = { factory: () => new DialedTransport(), defaultPort: 4_222 };

const MAX_GREETING = 1024 * 1024;

/**
 * Reads the line with which a server greets. A server sends nothing after it until the client has
 * answered, so a TLS handshake can follow.
 *
 * @throws EgressError
 */
export function readGreeting(socket: Socket, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let greeting = Buffer.alloc(0);
    const settle = (error?: Error): void => {
      socket.off('data', read);
      socket.off('close', closed);
      signal.removeEventListener('abort', stopped);
      socket.pause();
      if (error) {
        socket.destroy();
        reject(error);
      } else resolve(greeting);
    };
    const read = (chunk: Buffer): void => {
      greeting = Buffer.concat([greeting, chunk]);
      if (!greeting.subarray(0, 5).equals(Buffer.from('INFO ').subarray(0, greeting.length)))
        settle(new EgressError('invalid_answer', 'this is no NATS server'));
      else if (greeting.length > MAX_GREETING) settle(new EgressError('too_large', 'the greeting is too large'));
      else if (greeting.includes('\r\n')) settle();
    };
    const closed = (): void => settle(new EgressError('connect_failed', 'connection closed'));
    const stopped = (): void => settle(new EgressError('timeout', 'no greeting'));
    socket.on('data', read);
    socket.once('close', closed);
    signal.addEventListener('abort', stopped);
    if (signal.aborted) stopped();
  });
}
