import type { ConnectorConfig, PollRequest, PollStream } from '@connector-frame/catalog/types';
import type { Clock, DataRecord } from '@connector-frame/engine/connector-api';
import type { PollClient } from './client.js';
import { entryValues, type Entry } from './entries.js';
import { numberOf } from './setting-number.js';
import type { StreamState } from './state.js';
import type { Values } from './template.js';

const DEFAULT_SEEN = 20_000;
const MIN_SEEN = 100;

export interface StreamContext {
  stream: PollStream;
  client: PollClient;
  config: ConnectorConfig;
  clock: Clock;
  /**
   * When reading was first attempted, in milliseconds since the epoch. A stream without a cursor
   * starts there.
   */
  startedAt: number;
  /** Whether the schedule starts another job after one that was started at this time. */
  isScheduled?: (started: number | undefined) => boolean;
  /** The entry that the stream is read for. */
  each?: Entry;
  /** Number of list entries that share the deduplication limit. Default 1. */
  entries?: number;
}

export interface StreamPage {
  records: DataRecord[];
  state: StreamState;
}

/** Returns the values for a stream's templates. */
export function valuesOf(
  { stream, client, config, each }: StreamContext,
  { since, until }: StreamState,
  position?: string,
): Values {
  const { cursor, pagination } = stream;
  const end = pagination.kind === 'narrow' && position !== undefined ? Number(position) : until;
  const after = cursor.kind === 'id' ? (position ?? cursor.first) : undefined;
  return {
    ...client.values,
    page_size: numberOf(stream.page_size, config),
    now: client.vendorClock.now(),
    zone: client.zone,
    ...(since !== undefined && { since }),
    ...(end !== undefined && { until: end }),
    ...entryValues(each),
    ...(after !== undefined && { after }),
  };
}

/** Returns how many delivered records to remember for deduplication. */
export function seenLimit({ stream: { cursor }, entries = 1 }: StreamContext): number {
  const limit = ('seen' in cursor ? cursor.seen : undefined) ?? DEFAULT_SEEN;
  return Math.max(MIN_SEEN, Math.ceil(limit / entries));
}

/** Returns the part of a request that its URL without the query is made of. */
export const addressPart = ({ path, base_url: base }: PollStream): PollRequest => ({
  path,
  ...(base !== undefined && { base_url: base }),
});

/** Returns the request of a page that is not the first. */
export function nextRequest({ next, ...stream }: PollStream): PollRequest {
  const { query: _query, body: _body, form: _form, graphql: _graphql, method: _method, ...common } = stream;
  return next ? { ...common, ...next } : stream;
}
