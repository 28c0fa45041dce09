import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { EndError, type PageInput } from '../../runner/ends.js';
import type { ConnectorContext } from '../connector-code.js';
import type { Failure } from '../connection-test/outcome.js';
import { KafkaConnection, type KafkaTarget } from './connection.js';
import { readInputSettings, type InputSettings } from './input-settings.js';
import { Reading } from './reading.js';
import { readInputTarget } from './target.js';
import { readRecordFields } from './to-record.js';

/** A moved partition is found again by the client; for anything longer the engine waits. */
const RETRIES = 3;

/**
 * Messages of topics, as a member of a consumer group. A page is part of one partition; the group is told of it once it
 * was delivered: decision 013 says who knows the place.
 */
export function createKafkaInput(config: ConnectorConfig, { egress, clock }: ConnectorContext): PageInput {
  const target: KafkaTarget | Failure = readInputTarget(config);
  if ('ok' in target) throw new EndError('invalid_config', target.message, 'permanent');
  const settings: InputSettings | Failure = readInputSettings(config);
  if ('ok' in settings) throw new EndError('invalid_config', settings.message, 'permanent');
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
        // Where it begins is written down at once: what comes during a pause is not new then.
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
