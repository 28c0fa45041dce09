import type { ConnectorConfig, PollStream } from '@connector-frame/catalog/types';
import type { DataRecord } from '../../records/record.js';
import type { Clock } from '../../runner/clock.js';
import type { PollClient } from './client.js';
import type { StreamState } from './state.js';
import type { Values } from './template.js';

const DEFAULT_SEEN = 5_000;
const LEAST_SEEN = 100;

export interface StreamParts {
  stream: PollStream;
  client: PollClient;
  config: ConnectorConfig;
  clock: Clock;
  /** When reading was first tried: who begins now begins there. Milliseconds since 1970. */
  begun: number;
  /** Id of the list entry it is read for. */
  each?: string;
  /** How many entries share the bound of what is remembered. Default 1. */
  entries?: number;
}

export interface StreamPage {
  records: DataRecord[];
  state: StreamState;
}

/** What a stream's templates may name. */
export function valuesOf({ stream, config, each }: StreamParts, { since, until }: StreamState, place?: string): Values {
  return {
    settings: config.settings,
    page_size: stream.page_size,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(each !== undefined && { each }),
    ...(stream.cursor.kind === 'id' && place !== undefined && { after: place }),
  };
}

/** How many records are remembered. */
export function seenLimit({ stream: { cursor }, entries = 1 }: StreamParts): number {
  const limit = ('seen' in cursor ? cursor.seen : undefined) ?? DEFAULT_SEEN;
  return Math.max(LEAST_SEEN, Math.ceil(limit / entries));
}
