import type { CreateInput } from '@connector-frame/engine/connector-api';
import { AppendQueue } from '../_shared/broker/append-queue.js';
import { toFields, withMetadata } from '../_shared/broker/message.js';
import { createSubscriptionInput } from '../_shared/broker/subscription-input.js';
import { connectNats, natsError } from './client.js';
import { readInputSettings, readTarget } from './config.js';

const QUEUE_BYTES = 16 * 1024 * 1024;

/**
 * Creates an input that subscribes to a subject. NATS keeps nothing for a subscription: what is
 * published while the connection is down goes to the other members of the queue group, or is lost.
 */
export const createNatsInput: CreateInput = (config, { egress, clock }) => {
  const target = readTarget(config);
  const { subject, queue: group, subjectField, capacity } = readInputSettings(config.settings);
  return createSubscriptionInput({
    product: 'NATS',
    clock,
    async subscribe(sink, signal) {
      const session = await connectNats(target, egress, signal);
      const { connection, socket, ended, over } = session;
      const queue = new AppendQueue(sink, clock, over, { messages: capacity, bytes: QUEUE_BYTES }, socket);
      connection.subscribe(subject, {
        ...(group !== undefined && { queue: group }),
        callback(error, message) {
          if (error) return;
          const metadata = [[subjectField, message.subject]] as const;
          queue.add(JSON.stringify(withMetadata(toFields(message.data), metadata)));
        },
      });
      try {
        await session.confirm();
      } catch (error) {
        await session.close();
        throw natsError(error);
      }
      return {
        ended,
        async close() {
          await queue.idle();
          await session.close();
        },
      };
    },
  });
};
