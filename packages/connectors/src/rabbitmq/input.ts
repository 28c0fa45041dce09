import type { AMQPMessage } from '@cloudamqp/amqp-client';
import type { CreateInput } from '@connector-frame/engine/connector-api';
import { AppendQueue } from '../_shared/broker/append-queue.js';
import { toFields, withMetadata } from '../_shared/broker/message.js';
import { createSubscriptionInput } from '../_shared/broker/subscription-input.js';
import { connectRabbit, rabbitError } from './client.js';
import { readInputSettings, readTarget, type InputSettings } from './config.js';

const QUEUE_BYTES = 16 * 1024 * 1024;

/** Creates an input that acknowledges each message of a queue once it is stored. */
export const createRabbitInput: CreateInput = (config, { egress, clock }) => {
  const target = readTarget(config);
  const settings = readInputSettings(config.settings);
  return createSubscriptionInput({
    product: 'RabbitMQ',
    clock,
    async subscribe(sink, signal) {
      const session = await connectRabbit(target, egress, signal);
      const { channel, socket, ended, over } = session;
      // RabbitMQ sends no more than `prefetch`; a few large messages pause the connection.
      const limits = { messages: settings.prefetch + 1, bytes: QUEUE_BYTES };
      const queue = new AppendQueue(sink, clock, over, limits, socket);
      try {
        await channel.prefetch(settings.prefetch);
        const consumer = await channel.basicConsume(
          settings.queue,
          { noAck: false, tag: settings.consumer },
          (message) => queue.add(toLine(message, settings), () => void message.ack().catch(() => undefined)),
        );
        // Rejects when the queue is deleted.
        consumer.wait().catch(() => socket.destroy());
      } catch (error) {
        await session.close();
        throw rabbitError(error);
      }
      return { ended, close: () => session.close() };
    },
  });
};

function toLine({ body, exchange, routingKey, deliveryTag }: AMQPMessage, { fields }: InputSettings): string {
  return JSON.stringify(
    withMetadata(toFields(body ?? new Uint8Array(0)), [
      [fields.exchange, exchange],
      [fields.routingKey, routingKey],
      [fields.offset, deliveryTag],
    ]),
  );
}
