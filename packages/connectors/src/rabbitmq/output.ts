import type { AMQPProperties } from '@cloudamqp/amqp-client';
import { type Batch, type CreateOutput, type Rejection } from '@connector-frame/engine/connector-api';
import { within } from '../_shared/broker/within.js';
import { connectRabbit, rabbitError, type RabbitSession } from './client.js';
import { readOutputSettings, readTarget, type OutputSettings } from './config.js';

/** Creates an output that publishes one persistent message per record, and waits for its confirm. */
export const createRabbitOutput: CreateOutput = (config, { egress }) => {
  const target = readTarget(config);
  const settings = readOutputSettings(config.settings);
  let session: RabbitSession | undefined;
  /** Message ids of the current batch that no queue takes. */
  let returned = new Set<string>();

  async function opened(signal: AbortSignal): Promise<RabbitSession> {
    if (session && !session.over.aborted) return session;
    session = await connectRabbit(target, egress, signal);
    try {
      await checkExchange(session, settings.exchange);
      await session.channel.confirmSelect();
    } catch (error) {
      await drop();
      throw rabbitError(error);
    }
    session.channel.onReturn = ({ properties }) => void returned.add(properties.messageId ?? '');
    return session;
  }

  async function drop(): Promise<void> {
    const last = session;
    session = undefined;
    await last?.close();
  }

  return {
    batching: { records: 500, bytes: 1_000_000, waitMs: 0 },
    open: async (signal) => void (await opened(signal)),
    async write(batch, signal) {
      const { channel, over } = await opened(signal);
      returned = new Set();
      const { rejected, messages } = messagesOf(batch, settings);
      const published = Promise.all(
        messages.map(({ key, line, properties }) =>
          // Mandatory: a message that no queue takes is returned instead of dropped.
          channel.basicPublish(settings.exchange, key, line, properties, true),
        ),
      );
      try {
        await within(published, { canceled: signal, over, product: 'RabbitMQ' });
      } catch (error) {
        published.catch(() => undefined);
        await drop();
        throw rabbitError(error);
      }
      for (const { index, properties } of messages)
        if (returned.has(properties.messageId ?? '')) rejected.push({ index, reason: 'no_queue_for_routing_key' });
      return rejected.length > 0 ? { rejected } : {};
    },
    close: drop,
  };
};

/** The default exchange has no name, and can't be asked for. */
export async function checkExchange({ channel }: RabbitSession, exchange: string): Promise<void> {
  if (exchange !== '') await channel.exchangeDeclare(exchange, 'direct', { passive: true });
}

interface Outgoing {
  index: number;
  key: string;
  line: string;
  properties: AMQPProperties;
}

function messagesOf(batch: Batch, settings: OutputSettings): { rejected: Rejection[]; messages: Outgoing[] } {
  const { routingKey, priority, contentType, contentEncoding, expiration } = settings;
  const rejected: Rejection[] = [];
  const messages: Outgoing[] = [];
  for (const [index, line] of batch.lines.entries()) {
    const key = routingKey.fixed ?? routingKey.nameOf(batch.records[index] ?? {});
    const rank = priority && Number(priority.fixed ?? priority.nameOf(batch.records[index] ?? {}));
    if (key === undefined) rejected.push({ index, reason: 'missing_field' });
    else if (Buffer.byteLength(key) > 255) rejected.push({ index, reason: 'invalid_routing_key' });
    else if (rank !== undefined && !(Number.isInteger(rank) && rank >= 0 && rank <= 255))
      rejected.push({ index, reason: 'invalid_priority' });
    else
      messages.push({
        index,
        key,
        line,
        properties: {
          contentType,
          deliveryMode: 2,
          messageId: `${batch.id}-${index}`,
          ...(contentEncoding !== undefined && { contentEncoding }),
          ...(expiration !== undefined && { expiration: String(expiration) }),
          ...(rank !== undefined && { priority: rank }),
        },
      });
  }
  return { rejected, messages };
}
