import type { CreateOutput, Rejection } from '@connector-frame/engine/connector-api';
import { within } from '../_shared/broker/within.js';
import { connectNats, natsError, type NatsSession } from './client.js';
import { readSubject, readTarget } from './config.js';

/** Not empty, without spaces, and no token is empty or a wildcard. */
const SUBJECT = /^(?!\.)(?!.*\.\.)(?!.*\.$)(?!(?:.*\.)?[*>](?:\.|$))[^\s\0]+$/;
const encoder = new TextEncoder();

/** Creates an output that publishes one message per record. */
export const createNatsOutput: CreateOutput = (config, { egress }) => {
  const target = readTarget(config);
  const subject = readSubject(config.settings);
  let session: NatsSession | undefined;

  async function opened(signal: AbortSignal): Promise<NatsSession> {
    if (session && !session.connection.isClosed()) return session;
    session = undefined;
    session = await connectNats(target, egress, signal);
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
      const current = await opened(signal);
      const { connection } = current;
      const limit = connection.info?.max_payload ?? Infinity;
      const rejected: Rejection[] = [];
      try {
        for (const [index, line] of batch.lines.entries()) {
          const name = subject.fixed ?? subject.nameOf(batch.records[index] ?? {});
          const payload = encoder.encode(line);
          if (name === undefined) rejected.push({ index, reason: 'missing_field' });
          else if (!SUBJECT.test(name)) rejected.push({ index, reason: 'invalid_subject' });
          else if (payload.length > limit) rejected.push({ index, reason: 'too_large' });
          else connection.publish(name, payload);
        }
        await within(current.confirm(), { canceled: signal, over: current.over, product: 'NATS' });
      } catch (error) {
        await drop();
        throw natsError(error);
      }
      return rejected.length > 0 ? { rejected } : {};
    },
    close: drop,
  };
};
