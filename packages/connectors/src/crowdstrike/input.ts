import { setTimeout as delay } from 'node:timers/promises';
import {
  ConnectorError,
  isRecord,
  type CreateInput,
  type DataRecord,
  type Egress,
  type JsonValue,
  type TesterConfig,
} from '@connector-frame/engine/connector-api';
import { toConnectorError, toNetworkError } from '../_shared/api/api-error.js';
import { statusFailure } from '../_shared/connection-test/failures.js';
import { text } from '../_shared/read.js';
import { EventQueue } from './event-queue.js';
import { clouds, falcon, listStreams, openFalcon, type FalconClouds, type FalconSession } from './falcon.js';
import { readEvents, readFeed, type Feed } from './feed.js';

/** Milliseconds until a stream that has ended is opened again. */
const INTERVAL_MS = 5_000;

type Offsets = Readonly<Record<string, number>>;

/** Reads the event streams of Falcon as long as they last, each from the event after the last one. */
export const createEventStreamInput =
  (bases: FalconClouds = clouds): CreateInput =>
  (config, { egress }) => {
    const appName = text(config.settings, 'app_name') ?? '';
    return {
      kind: 'pages',
      intervalMs: INTERVAL_MS,
      readsAhead: true,
      async *pages(cursor, signal) {
        const session = await signedIn(config, egress, bases);
        const found = await checked(listStreams(egress, session, appName));
        const feeds = found.streams.map((stream) => readFeed(stream, session.base));
        let offsets = offsetsIn(cursor);
        const queue = new EventQueue<{ name: string; record: DataRecord; offset: number }>();
        const ending = new AbortController();
        const stop = AbortSignal.any([signal, ending.signal]);
        const work = feeds.flatMap((feed) => [
          readInto(queue, feed, offsets[feed.name], egress, stop),
          keepSession(feed, () => signedIn(config, egress, bases), appName, egress, stop),
        ]);
        // The first that ends, or fails, ends all: the next read begins with a new session.
        for (const each of work)
          each.then(
            () => queue.end(),
            (error: unknown) => queue.end(error),
          );
        try {
          for (let events = await queue.take(); events !== undefined; events = await queue.take()) {
            for (const { name, offset } of events) offsets = { ...offsets, [name]: offset };
            yield { records: events.map(({ record }) => record), cursor: { offsets } };
          }
          signal.throwIfAborted();
        } finally {
          ending.abort();
          queue.end();
          await Promise.allSettled(work);
        }
      },
    };
  };

async function readInto(
  queue: EventQueue<{ name: string; record: DataRecord; offset: number }>,
  feed: Feed,
  after: number | undefined,
  egress: Egress,
  signal: AbortSignal,
): Promise<void> {
  for await (const events of readEvents(feed, after, egress, signal))
    await queue.add(events.map((event) => ({ ...event, name: feed.name })));
}

/** Refreshes the session of a stream before it ends. */
async function keepSession(
  { refreshUrl, refreshMs }: Feed,
  signIn: () => Promise<FalconSession>,
  appName: string,
  egress: Egress,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(refreshMs, undefined, { signal, ref: false });
    const { token } = await signIn();
    try {
      const { status } = await egress.fetch(refreshUrl, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ action_name: 'refresh_active_stream_session', appId: appName }),
        signal,
        discardBody: true,
      });
      if (status !== 200) throw toConnectorError(statusFailure(status, falcon));
    } catch (error) {
      throw toNetworkError(error, falcon);
    }
  }
}

async function signedIn(config: TesterConfig, egress: Egress, bases: FalconClouds): Promise<FalconSession> {
  return checked(openFalcon(config, egress, bases));
}

/** Converts a failure of the connection test to an error. @throws ConnectorError */
async function checked<T extends object>(result: Promise<T | Parameters<typeof toConnectorError>[0]>): Promise<T> {
  try {
    const found = await result;
    if ('ok' in found) throw toConnectorError(found);
    return found;
  } catch (error) {
    throw error instanceof ConnectorError ? error : toNetworkError(error, falcon);
  }
}

function offsetsIn(cursor: JsonValue | undefined): Offsets {
  const offsets = isRecord(cursor) && isRecord(cursor['offsets']) ? cursor['offsets'] : {};
  return Object.fromEntries(
    Object.entries(offsets).flatMap(([name, offset]) => (typeof offset === 'number' ? [[name, offset]] : [])),
  );
}
