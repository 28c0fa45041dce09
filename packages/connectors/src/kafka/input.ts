import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { type ConnectorContext, ConnectorError, type PageInput } from '@connector-frame/engine/connector-api';
import type { Failure } from '../_shared/connection-test/outcome.js';
import { KafkaClient, type KafkaTarget } from './client.js';
import { readInputSettings, type InputSettings } from './config.js';
import { GroupSession } from './group-session.js';
import { readInputTarget } from './config.js';
import { readRecordFields, type RecordFields } from './to-record.js';

/** Enough for the client to find a partition's new leader; the engine handles longer outages. */
const RETRIES = 3;

/**
 * Creates an input that reads topics as a member of a consumer group. A page holds messages of one
 * partition. Its offset is committed to the group after delivery; decision 013 describes how the
 * group's offsets and the engine's cursor relate.
 */
export function createKafkaInput(config: ConnectorConfig, context: ConnectorContext): PageInput {
  const target: KafkaTarget | Failure = readInputTarget(config);
  if ('ok' in target) throw new ConnectorError('invalid_config', target.message, 'permanent');
  const settings: InputSettings | Failure = readInputSettings(config);
  if ('ok' in settings) throw new ConnectorError('invalid_config', settings.message, 'permanent');
  return createGroupInput({ target, settings, names: readRecordFields(config.settings) }, context);
}

export interface GroupInput {
  target: KafkaTarget;
  settings: InputSettings;
  names: RecordFields;
}

/** Creates such an input for a type with other fields. */
export function createGroupInput(
  { target, settings, names }: GroupInput,
  { egress, clock }: Pick<ConnectorContext, 'egress' | 'clock'>,
): PageInput {
  return {
    kind: 'pages',
    intervalMs: 1_000,
    async *pages(cursor, signal) {
      await target.prepare?.(signal);
      const client = new KafkaClient(target, egress, {
        requestTimeout: settings.socketTimeout,
        retries: RETRIES,
      });
      const session = new GroupSession(client, settings, names, clock, cursor);
      try {
        await session.start(signal);
        // Commit the start offsets before reading: with `largest`, messages that arrive during a
        // pause would otherwise be skipped.
        yield { records: [], cursor: session.cursor };
        while (!signal.aborted) {
          const page = await session.next(signal);
          if (!page) return;
          if (!signal.aborted) yield page;
        }
      } catch (error) {
        if (!signal.aborted) throw client.explain(error);
      } finally {
        await session.close();
      }
    },
  };
}
