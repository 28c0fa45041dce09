import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ConnectorError, type Egress } from '@connector-frame/engine/connector-api';
import { brokerError, openConnection, type BrokerAddress } from '../broker/connection.js';
import { capital, unexpected } from '../output/failures.js';
import { failureOf, REFUSED, statusOfHttp } from './status.js';

export interface GrpcChannelOptions {
  egress: Egress;
  address: BrokerAddress;
  /** Name as used in a sentence: `Vector`, `the receiver`. */
  product: string;
  /** Sent with each call, such as an API key. */
  metadata?: readonly (readonly [name: string, value: string])[];
  gzip?: boolean;
}

/** `refused`: the server does not accept the message. */
export type GrpcResult = { message: Buffer } | { refused: true };

const CALL_MS = 30_000;
const SETUP_MS = 10_000;
const MAX_RESPONSE = 4_000_000;
/** Length of what precedes a message: a flag and its size. */
const PREFIX = 5;
const compress = promisify(gzip);

/**
 * Calls unary methods of a gRPC service over one connection, which was opened through the egress
 * guard. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class GrpcChannel {
  readonly #options: GrpcChannelOptions;
  #session: Promise<ClientHttp2Session> | undefined;

  constructor(options: GrpcChannelOptions) {
    this.#options = options;
  }

  /**
   * @param path `/package.Service/Method`
   * @throws ConnectorError, or the reason of `signal`
   */
  async call(path: string, message: Uint8Array, signal: AbortSignal): Promise<GrpcResult> {
    const { product } = this.#options;
    const zipped = this.#options.gzip === true;
    const body = zipped ? await compress(message) : message;
    const session = await this.#open(signal);
    if (session.closed || session.destroyed) throw lost(product);
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': `${CALL_MS}m`,
      ...(zipped && { 'grpc-encoding': 'gzip' }),
      ...Object.fromEntries(this.#options.metadata ?? []),
    });
    const prefix = Buffer.alloc(PREFIX);
    prefix.writeUInt8(zipped ? 1 : 0);
    prefix.writeUInt32BE(body.byteLength, 1);
    stream.end(Buffer.concat([prefix, body]));
    const reply = await exchange(stream, product, AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]), signal);
    if (reply.status === 0) return { message: unframe(reply.body, product) };
    if (REFUSED.has(reply.status)) return { refused: true };
    throw failureOf(reply.status, product, reply.afterMs);
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    this.#session = undefined;
    session?.destroy();
  }

  #open(signal: AbortSignal): Promise<ClientHttp2Session> {
    this.#session ??= this.#connect(signal).catch((error: unknown) => {
      this.#session = undefined;
      throw error;
    });
    return this.#session;
  }

  async #connect(signal: AbortSignal): Promise<ClientHttp2Session> {
    const { egress, address, product } = this.#options;
    const { host, port, tls } = address;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
    try {
      const secured = tls && { tls: { ...tls, ALPNProtocols: ['h2'] } };
      const socket = await openConnection(egress, { host, port, ...secured }, limit);
      if (tls && (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2')) {
        socket.destroy();
        throw unexpected(product, 'permanent');
      }
      const authority = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
      const session = connect(`${tls ? 'https' : 'http'}://${authority}:${port}`, { createConnection: () => socket });
      const forget = (): void => {
        this.#session = undefined;
      };
      session.on('error', forget);
      session.on('goaway', forget);
      session.on('close', forget);
      return session;
    } catch (error) {
      signal.throwIfAborted();
      throw brokerError(error, product);
    }
  }
}

const lost = (product: string): ConnectorError =>
  new ConnectorError('connect_failed', `${capital(product)} closed the connection.`);

interface Reply {
  status: number;
  body: Buffer;
  afterMs?: number;
}

/** Resolves with the status and body of a call. Errors of the connection are worth a retry. */
function exchange(
  stream: ClientHttp2Stream,
  product: string,
  limit: AbortSignal,
  canceled: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let http = 0;
    let fields: Record<string, unknown> = {};
    const fail = (error: unknown): void => {
      limit.removeEventListener('abort', stop);
      stream.close(constants.NGHTTP2_CANCEL);
      reject(error);
    };
    const stop = (): void =>
      fail(
        canceled.aborted
          ? canceled.reason
          : new ConnectorError('timeout', `${capital(product)} did not respond in time.`),
      );
    if (limit.aborted) return stop();
    limit.addEventListener('abort', stop, { once: true });
    stream.on('response', (headers) => {
      http = Number(headers[':status']);
      fields = { ...headers };
    });
    stream.on('trailers', (trailers) => {
      fields = { ...fields, ...trailers };
    });
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_RESPONSE) fail(unexpected(product));
      else chunks.push(chunk);
    });
    stream.on('error', () => fail(lost(product)));
    stream.on('close', () => {
      limit.removeEventListener('abort', stop);
      const given = fields['grpc-status'];
      const status = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : statusOfHttp(http);
      if (http === 0) reject(lost(product));
      else if (status === undefined) reject(unexpected(product));
      else resolve({ status, body: Buffer.concat(chunks), ...pushback(fields) });
    });
  });
}

/** https://github.com/grpc/proposal/blob/master/A6-client-retries.md#pushback */
function pushback(fields: Record<string, unknown>): { afterMs?: number } {
  const given = fields['grpc-retry-pushback-ms'];
  return typeof given === 'string' && /^\d{1,8}$/.test(given) ? { afterMs: Number(given) } : {};
}

function unframe(body: Buffer, product: string): Buffer {
  if (body.length < PREFIX || body.readUInt8() !== 0 || body.readUInt32BE(1) !== body.length - PREFIX)
    throw unexpected(product);
  return body.subarray(PREFIX);
}
