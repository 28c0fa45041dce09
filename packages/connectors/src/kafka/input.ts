import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { type ConnectorContext, ConnectorError, type PageInput } from '@connector-frame/engine/connector-api';
import type { Failure } from '../_shared/connection-test/outcome.js';
import { KafkaConnection, type KafkaTarget } from './connection.js';
import { readInputSettings, type InputSettings } from './input-settings.js';
import { Reading } from './reading.js';
import { readInputTarget } from './target.js';
import { readRecordFields } from './to-record.js';

/** Enough for the client to find a partition's new leader; the engine handles longer outages. */
const RETRIES = 3;

/**
 * Creates an input that reads topics as a member of a consumer group. A page holds messages of one
 * partition. Its offset is committed to the group after delivery; decision 013 describes how the
 * group's offsets and the engine's cursor relate.
 */
export function createKafkaInput(config: ConnectorConfig, { egress, clock }: ConnectorContext): PageInput {
  const target: KafkaTarget | Failure = readInputTarget(config);
  if ('ok' in target) throw new ConnectorError('invalid_config', target.message, 'permanent');
  const settings: InputSettings | Failure = readInputSettings(config);
  if ('ok' in settings) throw new ConnectorError('invalid_config', settings.message, 'permanent');
  const names = readRecordFields(config.settings);
  return {
    kind: 'pages',
    intervalMs: 1_000,
    async *pages(cursor, signal) {
      const connection = new KafkaConnection(target, egress, {
        requestTimeout: settings.socketTimeout,
        retries: RETRIES,
      });
      const reading = new Reading(connection, settings, names, clock, cursor);
      try {
        await reading.start(signal);
        // Commit the start offsets before reading: with `largest`, messages that arrive during a
        // pause would otherwise be skipped.
        yield { records: [], cursor: reading.cursor };
        while (!signal.aborted) {
          const page = await reading.next(signal);
          if (!page) return;
          if (!signal.aborted) yield page;
        }
      } catch (error) {
        if (!signal.aborted) throw connection.explain(error);
      } finally {
        await reading.close();
      }
    },
  };
}
