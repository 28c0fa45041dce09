import { Socket } from 'node:net';
import { EgressError } from '@connector-frame/engine/connector-api';

/**
 * Maximum bytes of a response: what was requested plus one record batch, which may be large.
 */
const MAX_RESPONSE = 128 * 1024 * 1024;

/**
 * A socket that can be used before its connection is established, for a client that requires one
 * synchronously. Responses that exceed `MAX_RESPONSE` or are not Kafka's destroy it, which bounds
 * memory use.
 */
export class GuardedSocket extends Socket {
  readonly #opened: Promise<Socket>;
  readonly #responses = new ResponseSizes();
  #inner: Socket | undefined;

  constructor(opening: Promise<Socket>, onConnect: () => void) {
    super();
    this.#opened = opening.then((socket) => this.#attach(socket, onConnect));
    this.#opened.catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error('stopped')));
  }

  #attach(socket: Socket, onConnect: () => void): Socket {
    this.#inner = socket;
    if (this.destroyed) socket.destroy();
    socket.on('data', (chunk: Buffer) => {
      if (!this.#responses.fits(chunk)) this.destroy(new EgressError('invalid_answer', 'this is no Kafka broker'));
      else if (!this.push(chunk)) socket.pause();
    });
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
    if (!this.destroyed) onConnect();
    return socket;
  }

  override _read(): void {
    this.#inner?.resume();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    void this.#pass(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, done);
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    const bytes = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    void this.#pass(Buffer.concat(bytes), done);
  }

  async #pass(bytes: Buffer, done: (error?: Error | null) => void): Promise<void> {
    // If the connection fails, this socket is destroyed and `done` does not have to be called.
    const socket = await this.#opened.catch(() => undefined);
    socket?.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    void this.#finish(done);
  }

  async #finish(done: () => void): Promise<void> {
    const socket = await this.#opened.catch(() => undefined);
    socket?.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inner?.destroy();
    done(error);
  }

  override setKeepAlive(enable?: boolean, delay?: number): this {
    this.#inner?.setKeepAlive(enable, delay);
    return this;
  }

  override ref(): this {
    this.#inner?.ref();
    return this;
  }

  override unref(): this {
    this.#inner?.unref();
    return this;
  }
}

/** Tracks response sizes in the byte stream: each response starts with its size in four bytes. */
class ResponseSizes {
  #head = Buffer.alloc(0);
  #left = 0;

  fits(chunk: Buffer): boolean {
    for (let rest = chunk; rest.length > 0;) {
      const skipped = Math.min(this.#left, rest.length);
      this.#left -= skipped;
      rest = rest.subarray(skipped);
      if (rest.length === 0) break;
      const missing = 4 - this.#head.length;
      this.#head = Buffer.concat([this.#head, rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      if (this.#head.length < 4) break;
      this.#left = this.#head.readInt32BE();
      this.#head = Buffer.alloc(0);
      if (this.#left < 0 || this.#left > MAX_RESPONSE) return false;
    }
    return true;
  }
}
