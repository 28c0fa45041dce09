import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { ConnectorError, type ConnectorContext, type Output } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { readSnowflake } from './config.js';
import { StreamingClient, type Channel } from './streaming-client.js';

/** Snowflake accepts 16 MB. */
const MAX_BYTES = 4_000_000;
/** Rows are written some seconds after they are accepted. */
const COMMIT_MS = 60_000;
const POLL_MS = 1_000;

/**
 * Streams records through a pipe. The offset of a channel is the ID of a batch: one that is sent again
 * after it was written is left out.
 */
export function createStreamingOutput(config: ConnectorConfig, { egress, clock }: ConnectorContext): Output {
  const { settings } = config;
  const target = readSnowflake(config);
  if ('ok' in target) throw invalidConfig(target.message);
  const client = new StreamingClient(target, egress, clock);
  const pipe = { database: target.database, schema: target.schema, pipe: text(settings, 'pipe') ?? '' };
  const name = channelName(settings);
  let channel: Channel | undefined;
  const number = (key: string, fallback: number): number => {
    const value = at(settings, 'batch_config', key);
    return typeof value === 'number' && value > 0 ? value : fallback;
  };

  async function commit(offset: string, signal: AbortSignal): Promise<void> {
    const until = clock.now() + COMMIT_MS;
    while ((await client.committed(pipe, name, signal)) !== offset) {
      if (clock.now() > until) {
        const message = 'Snowflake accepted the records, but has not written them in time.';
        throw new ConnectorError('timeout', message, 'retry');
      }
      await clock.sleep(POLL_MS, signal);
    }
  }

  return {
    batching: {
      records: number('batch_record_count', 10_000),
      bytes: Math.min(number('batch_data_size', MAX_BYTES), MAX_BYTES),
      waitMs: number('publish_rate', 1) * 1_000,
      waitFrom: 'write',
    },
    write: async (batch, signal) => {
      try {
        channel ??= await client.open(pipe, name, signal);
        if (channel.committed === batch.id) return {};
        const lines = `${batch.lines.join('\n')}\n`;
        const next = await client.append(pipe, name, channel, batch.id, lines, signal);
        channel = { next, committed: undefined };
        await commit(batch.id, signal);
        return {};
      } catch (error) {
        // The next attempt reads the committed offset.
        channel = undefined;
        throw error;
      }
    },
  };
}

/** Rows of a channel are in order, so one is enough. */
export const channelName = (settings: Record<string, unknown>): string =>
  `${text(settings, 'channel_prefix') ?? 'connector_frame'}_0`;
