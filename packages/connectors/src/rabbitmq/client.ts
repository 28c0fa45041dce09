import type { Socket } from 'node:net';
import { AMQPBaseClient, AMQPError, type AMQPChannel } from '@cloudamqp/amqp-client';
import { AMQPView } from '@cloudamqp/amqp-client/amqp-view';
import { ConnectorError, type Egress, type FailureKind } from '@connector-frame/engine/connector-api';
import { brokerError, openConnection } from '../_shared/broker/connection.js';
import { FrameSplitter } from './frame-splitter.js';
import type { RabbitTarget } from './config.js';

const SETUP_MS = 10_000;
/** Seconds. */
const HEARTBEAT = 30;
const FRAME_MAX = 128 * 1024;
/** `AMQP`, and version 0-9-1. */
const PROTOCOL = Uint8Array.from([65, 77, 81, 80, 0, 0, 9, 1]);

/** By reply code. https://www.rabbitmq.com/docs/specification#protocol-reply-codes */
const codes: Readonly<Record<string, readonly [code: string, kind: FailureKind, message: string]>> = {
  '311': ['too_large', 'permanent', 'RabbitMQ does not accept messages of this size.'],
  '320': ['upstream_error', 'retry', 'RabbitMQ has closed the connection.'],
  '402': ['not_found', 'permanent', 'RabbitMQ has no virtual host of this name.'],
  '403': ['forbidden', 'permanent', 'RabbitMQ does not allow this user to do that.'],
  '404': ['not_found', 'permanent', 'RabbitMQ has no queue or exchange of this name.'],
  '405': ['rejected', 'retry', 'Another connection has the queue for itself.'],
  '406': ['rejected', 'permanent', 'RabbitMQ does not accept these message properties.'],
  '530': [
    'forbidden',
    'permanent',
    'RabbitMQ does not allow this user to use the virtual host, or has none of its name.',
  ],
};

/** Converts an error of the client to one that quotes nothing from the server. */
export function rabbitError(error: unknown): ConnectorError {
  if (!(error instanceof AMQPError)) return brokerError(error, 'RabbitMQ');
  const [code, kind, message] = codes[/\b(\d{3})\)?$/.exec(error.message)?.[1] ?? ''] ?? [];
  if (code !== undefined && kind !== undefined && message !== undefined) return new ConnectorError(code, message, kind);
  return brokerError(error, 'RabbitMQ');
}

/** Lets the client use a connection that was opened through the egress guard. */
class GuardedClient extends AMQPBaseClient {
  readonly #socket: Socket;
  readonly #frames = new FrameSplitter(FRAME_MAX);

  constructor({ vhost, username, password }: RabbitTarget, socket: Socket) {
    super(vhost, username, password, 'connector-frame', undefined, FRAME_MAX, HEARTBEAT);
    this.#socket = socket;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client's only way to report
    this.onerror = () => undefined;
  }

  connect(): Promise<AMQPBaseClient> {
    const socket = this.#socket;
    // A server that is alive sends heartbeats.
    socket.setTimeout(HEARTBEAT * 2_000, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of this.#frames.push(chunk))
          this.parseFrames(new AMQPView(frame.buffer, frame.byteOffset, frame.byteLength));
      } catch {
        socket.destroy();
      }
    });
    return new Promise((resolve, reject) => {
      this.connectPromise = [resolve, reject];
      socket.once('close', () => {
        this.closed = true;
        const error = new AMQPError('Socket closed', this);
        for (const channel of this.channels) channel?.setClosed(error);
        reject(error);
      });
      this.send(PROTOCOL).catch(reject);
    });
  }

  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      // The client reuses its buffers once this resolves.
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  protected closeSocket(): void {
    this.closed = true;
    this.#socket.end(() => this.#socket.destroy());
  }
}

/** A signed-in connection with one channel. Nothing reconnects: a new one is opened instead. */
export interface RabbitSession {
  channel: AMQPChannel;
  socket: Socket;
  /** Resolves when the connection or its channel ends. */
  ended: Promise<void>;
  /** Aborted when the connection or its channel ends. */
  over: AbortSignal;
  close(): Promise<void>;
}

/**
 * Connects through the egress guard and signs in.
 *
 * @throws ConnectorError
 */
export async function connectRabbit(target: RabbitTarget, egress: Egress, signal: AbortSignal): Promise<RabbitSession> {
  let socket: Socket | undefined;
  const stop = (): void => void socket?.destroy();
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
    socket = await openConnection(egress, target.address, limit);
    signal.addEventListener('abort', stop, { once: true });
    const client = new GuardedClient(target, socket);
    const late = setTimeout(stop, SETUP_MS);
    try {
      await client.connect();
    } finally {
      clearTimeout(late);
    }
    return sessionOf(client, await client.channel(), socket, () => signal.removeEventListener('abort', stop));
  } catch (error) {
    socket?.destroy();
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
    const explained = rabbitError(error);
    // While signing in, this is about the credentials.
    if (explained.code === 'forbidden' && error instanceof AMQPError && error.message.includes('ACCESS_REFUSED'))
      throw new ConnectorError('invalid_credentials', 'RabbitMQ did not accept the user and password.', 'permanent');
    throw explained;
  }
}

function sessionOf(client: AMQPBaseClient, channel: AMQPChannel, socket: Socket, forget: () => void): RabbitSession {
  const over = new AbortController();
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => {
      forget();
      over.abort();
      resolve();
    });
  });
  // A closed channel is of no use.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client's only way to report
  channel.onerror = () => void socket.destroy();
  return {
    channel,
    socket,
    ended,
    over: over.signal,
    async close() {
      // Waits until acknowledgments are sent, but not for a server that does not respond.
      const closed = client.closed ? Promise.resolve() : client.close().catch(() => undefined);
      const late = setTimeout(() => socket.destroy(), 1_000);
      await Promise.race([closed, ended]);
      clearTimeout(late);
      socket.destroy();
    },
  };
}
