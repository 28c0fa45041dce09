import type { Clock, PushInput, Sink } from '@connector-frame/engine/connector-api';
import type { RawData, WebSocket } from 'ws';
import { AppendQueue } from '../broker/append-queue.js';
import { toFields } from '../broker/message.js';
import { createSubscriptionInput, type Subscription } from '../broker/subscription-input.js';

export interface MessageInputOptions {
  /** As used in a sentence. */
  product: string;
  clock: Clock;
  open: (signal: AbortSignal) => Promise<WebSocket>;
  /** Called with the last message that was stored, so that the next connection continues there. */
  stored?: (message: Buffer) => void;
}

const QUEUE = { messages: 2_000, bytes: 16 * 1024 * 1024 };

/**
 * Creates an input that stores the messages of a WebSocket: of JSON, an object becomes a record as it
 * is. What the sender does not repeat after a connection broke is lost.
 */
export function createMessageInput({ product, clock, open, stored }: MessageInputOptions): PushInput {
  return createSubscriptionInput({
    product,
    clock,
    async subscribe(sink: Sink, signal: AbortSignal): Promise<Subscription> {
      const client = await open(signal);
      const over = new AbortController();
      const queue = new AppendQueue(sink, clock, over.signal, QUEUE, {
        pause: () => client.pause(),
        resume: () => client.resume(),
      });
      const ended = new Promise<void>((resolve) => {
        client.once('close', () => resolve());
      });
      client.on('message', (data) => {
        const bytes = bytesOf(data);
        queue.add(JSON.stringify(toFields(bytes)), () => stored?.(bytes));
      });
      client.resume();
      return {
        ended,
        async close() {
          client.close();
          setTimeout(() => client.terminate(), 2_000).unref();
          await queue.idle();
          over.abort();
        },
      };
    },
  });
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
