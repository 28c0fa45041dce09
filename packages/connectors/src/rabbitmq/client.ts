import type { Socket } from 'node:net';
import type { AMQPBaseClient, AMQPChannel } from '@cloudamqp/amqp-client';
import { ConnectorError, type Egress, type FailureKind } from '@connector-frame/engine/connector-api';
import { brokerError, openConnection } from '../_shared/broker/connection.js';
import type { RabbitTarget } from './config.js';

const SETUP_MS = 10_000;

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

const isAmqpError = (error: unknown): error is Error => error instanceof Error && error.name === 'AMQPError';

/** Converts an error of the client to one that quotes nothing from the server. */
export function rabbitError(error: unknown): ConnectorError {
  if (!isAmqpError(error)) return brokerError(error, 'RabbitMQ');
  const [code, kind, message] = codes[/\b(\d{3})\)?$/.exec(error.message)?.[1] ?? ''] ?? [];
  if (code !== undefined && kind !== undefined && message !== undefined) return new ConnectorError(code, message, kind);
  return brokerError(error, 'RabbitMQ');
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
  const { GuardedClient } = await import('./guarded-client.js');
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
    if (explained.code === 'forbidden' && isAmqpError(error) && error.message.includes('ACCESS_REFUSED'))
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
