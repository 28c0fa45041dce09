import {
  type Batch,
  ConnectorError,
  type CreateOutput,
  type Egress,
  type Rejection,
  type WriteResult,
} from '@connector-frame/engine/connector-api';
import { connectRedis, redisError, type RedisSession } from './client.js';
import { readOutputSettings, readTarget, type OutputSettings, type RedisTarget } from './config.js';

/** Creates an output that adds records to lists, sorted sets or channels. */
export const createRedisOutput: CreateOutput = (config, { egress }) => {
  const writer = new RedisWriter(readTarget(config, 'endpoint'), readOutputSettings(config.settings), egress);
  return {
    batching: { records: 500, bytes: 1_000_000, waitMs: 0 },
    open: async (signal) => void (await writer.session(signal)),
    write: (batch, signal) => writer.write(batch, signal),
    close: () => {
      writer.close();
      return Promise.resolve();
    },
  };
};

/** Keeps a connection between writes. */
class RedisWriter {
  #session: RedisSession | undefined;
  readonly #target: RedisTarget;
  readonly #settings: OutputSettings;
  readonly #egress: Egress;

  constructor(target: RedisTarget, settings: OutputSettings, egress: Egress) {
    this.#target = target;
    this.#settings = settings;
    this.#egress = egress;
  }

  async session(signal: AbortSignal): Promise<RedisSession> {
    if (this.#session) return this.#session;
    // The signal is that of one write; the connection outlives it.
    const session = await connectRedis(this.#target, this.#egress, signal);
    this.#session = session;
    void this.#forget(session);
    return session;
  }

  async #forget(session: RedisSession): Promise<void> {
    await session.ended;
    if (this.#session === session) this.#session = undefined;
  }

  async write(batch: Batch, signal: AbortSignal): Promise<WriteResult> {
    const { rejected, commands } = commandsOf(batch, this.#settings);
    const { redis } = await this.session(signal);
    const pipeline = redis.pipeline();
    for (const command of commands) pipeline.call(...command);
    try {
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
    } catch (error) {
      this.close();
      if (signal.aborted) throw new ConnectorError('stopped', 'The write was canceled.');
      throw redisError(error);
    }
    return rejected.length > 0 ? { rejected } : {};
  }

  close(): void {
    this.#session?.redis.disconnect();
    this.#session = undefined;
  }
}

type Command = [name: string, ...args: string[]];

/** One command per key, so that records with the same key stay in order. */
function commandsOf(
  batch: Batch,
  { command, key, score }: OutputSettings,
): { rejected: Rejection[]; commands: Command[] } {
  const rejected: Rejection[] = [];
  const values = new Map<string, string[]>();
  for (const [index, line] of batch.lines.entries()) {
    const name = key.fixed ?? key.nameOf(batch.records[index] ?? {});
    const rank = score && (score.fixed ?? score.nameOf(batch.records[index] ?? {}));
    if (name === undefined) rejected.push({ index, reason: 'missing_field' });
    else if (score && !(rank !== undefined && rank.trim() !== '' && Number.isFinite(Number(rank))))
      rejected.push({ index, reason: 'invalid_score' });
    else values.set(name, [...(values.get(name) ?? []), ...(rank === undefined ? [line] : [rank, line])]);
  }
  const commands = [...values].flatMap(([name, lines]): Command[] =>
    command === 'publish' ? lines.map((line) => ['publish', name, line]) : [[command, name, ...lines]],
  );
  return { rejected, commands };
}
