import { randomUUID } from 'node:crypto';
import {
  type ConnectorContext,
  type CreateInput,
  type JsonValue,
  type Page,
  type PageInput,
  type PushInput,
} from '@connector-frame/engine/connector-api';
import { AppendQueue } from '../_shared/broker/append-queue.js';
import { toFields, withMetadata } from '../_shared/broker/message.js';
import { createSubscriptionInput } from '../_shared/broker/subscription-input.js';
import { at } from '../_shared/read.js';
import { connectRedis, redisError, type RedisSession } from './client.js';
import { readInputSettings, readTarget, type InputSettings, type RedisTarget } from './config.js';

/** Entries per page. */
const PAGE = 500;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Moved with one round trip. */
const CHUNK = 50;
/** Seconds that the server waits for the first entry. */
const BLOCK_S = 5;
const QUEUE = { messages: 10_000, bytes: 16 * 1024 * 1024 };

/** Creates an input that takes the entries of a list, or listens to a channel. */
export const createRedisInput: CreateInput = (config, context) => {
  const target = readTarget(config, 'url');
  const settings = readInputSettings(config.settings);
  return settings.kind === 'channel'
    ? createChannelInput(target, settings, context)
    : createListInput(target, settings, context);
};

/**
 * Moves entries to a list of this pipeline, and deletes them there after the engine has committed
 * the page. After a crash, what that list holds is delivered first. The pattern of
 * https://redis.io/docs/latest/commands/lmove/
 */
function createListInput(target: RedisTarget, settings: InputSettings, { egress }: ConnectorContext): PageInput {
  return {
    kind: 'pages',
    intervalMs: 0,
    async *pages(cursor, signal): AsyncGenerator<Page> {
      const known = at(cursor, 'taken');
      const taken = typeof known === 'string' ? known : `${settings.key}:connector-frame:${randomUUID()}`;
      const position: JsonValue = { taken };
      const session = await connectRedis(target, egress, signal);
      try {
        // Committed before an entry is moved, so that a crash can't lose the name of the list.
        if (known !== taken) yield { records: [], cursor: position };
        let entries = await session.redis.lrangeBuffer(taken, 0, -1);
        while (!signal.aborted) {
          if (entries.length === 0) entries = await take(session, settings, taken);
          if (entries.length === 0) continue;
          yield { records: entries.map((entry) => toRecord(entry, settings)), cursor: position };
          await session.redis.del(taken);
          entries = [];
        }
      } catch (error) {
        if (!signal.aborted) throw redisError(error);
      } finally {
        session.redis.disconnect();
      }
    },
  };
}

const toRecord = (entry: Buffer, { key, keyField }: InputSettings) => withMetadata(toFields(entry), [[keyField, key]]);

/** Moves up to a page of entries, and waits for the first one. */
async function take({ redis }: RedisSession, { key, from }: InputSettings, taken: string): Promise<Buffer[]> {
  // Typed for each end.
  const isLeft = from === 'LEFT';
  const first = await (isLeft
    ? redis.blmoveBuffer(key, taken, 'LEFT', 'RIGHT', BLOCK_S)
    : redis.blmoveBuffer(key, taken, 'RIGHT', 'RIGHT', BLOCK_S));
  if (first === null) return [];
  const entries = [first];
  let bytes = first.length;
  while (entries.length < PAGE && bytes < PAGE_BYTES) {
    const chunk = redis.pipeline();
    for (let n = 0; n < Math.min(CHUNK, PAGE - entries.length); n += 1) {
      if (isLeft) chunk.lmoveBuffer(key, taken, 'LEFT', 'RIGHT');
      else chunk.lmoveBuffer(key, taken, 'RIGHT', 'RIGHT');
    }
    const moved = ((await chunk.exec()) ?? []).map(([error, value]) => {
      if (error) throw error;
      return value;
    });
    const found = moved.filter((value): value is Buffer => Buffer.isBuffer(value));
    entries.push(...found);
    bytes += found.reduce((sum, { length }) => sum + length, 0);
    if (found.length < moved.length) break;
  }
  return entries;
}

/** A channel keeps nothing: what is published while the connection is down is lost. */
const createChannelInput = (target: RedisTarget, settings: InputSettings, context: ConnectorContext): PushInput =>
  createSubscriptionInput({
    product: 'Redis',
    clock: context.clock,
    async subscribe(sink, signal) {
      const { redis, socket, ended } = await connectRedis(target, context.egress, signal);
      const over = new AbortController();
      void ended.then(() => over.abort());
      const queue = new AppendQueue(sink, context.clock, over.signal, QUEUE, socket);
      redis.on('messageBuffer', (_channel: Buffer, message: Buffer) =>
        queue.add(JSON.stringify(toRecord(message, settings))),
      );
      try {
        await redis.subscribe(settings.key);
      } catch (error) {
        redis.disconnect();
        throw redisError(error);
      }
      return {
        ended,
        async close() {
          await queue.idle();
          redis.disconnect();
          socket.destroy();
        },
      };
    },
  });
