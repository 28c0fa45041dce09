import {
  ConnectorError,
  EgressError,
  isRecord,
  type DataRecord,
  type Egress,
} from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected } from '../_shared/connection-test/failures.js';
import { toConnectorError, toNetworkError } from '../_shared/api/api-error.js';
import { parseExact } from '../_shared/exact-json.js';
import { Lines } from '../_shared/formats/json-lines.js';
import { at, text } from '../_shared/read.js';
import { falcon } from './falcon.js';

/** A stream that the API lists. Its session ends unless it is refreshed. */
export interface Feed {
  /** Path of the stream, which stays the same: part of the cursor. */
  name: string;
  url: URL;
  /** For this stream alone. */
  token: string;
  refreshUrl: string;
  refreshMs: number;
}

/** An event, and the number of its place in the stream. */
export interface FeedEvent {
  record: DataRecord;
  offset: number;
}

const DEFAULT_REFRESH_S = 1_800;
/** The server sends an empty line every few seconds. */
const SILENCE_MS = 90_000;

/**
 * Reads what the API says about a stream. Tokens are sent only to the API itself and to hosts of
 * CrowdStrike, whatever the response says.
 *
 * @throws ConnectorError
 */
export function readFeed(stream: unknown, base: string): Feed {
  const [address, refresh] = [text(stream, 'dataFeedURL') ?? '', text(stream, 'refreshActiveSessionURL') ?? ''];
  const token = text(stream, 'sessionToken', 'token');
  const seconds = at(stream, 'refreshActiveSessionInterval');
  if (!URL.canParse(address) || !URL.canParse(refresh) || token === undefined)
    throw toConnectorError(unexpected(falcon));
  const [url, refreshUrl] = [new URL(address), new URL(refresh)];
  if (!isTrusted(url, base) || !isTrusted(refreshUrl, base)) throw toConnectorError(unexpected(falcon));
  return {
    name: url.pathname,
    url,
    token,
    refreshUrl: refreshUrl.href,
    refreshMs: (typeof seconds === 'number' && seconds >= 60 ? seconds : DEFAULT_REFRESH_S) * 900,
  };
}

const isTrusted = ({ protocol, hostname, origin, username }: URL, base: string): boolean =>
  username === '' &&
  (origin === new URL(base).origin || (protocol === 'https:' && hostname.endsWith('.crowdstrike.com')));

/**
 * Reads events as they happen, until the server ends the response or `signal` is aborted.
 *
 * @param after number of the last event that was read; `undefined`: begins with the next event
 * @throws ConnectorError
 */
export async function* readEvents(
  { url, token }: Feed,
  after: number | undefined,
  egress: Egress,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent[], void, void> {
  const from = new URL(url);
  if (after === undefined) from.searchParams.set('whence', '2');
  else from.searchParams.set('offset', String(after + 1));
  const lines = new Lines();
  const decoder = new TextDecoder();
  try {
    const response = await egress.fetch(from, {
      headers: { accept: 'application/json', authorization: `Token ${token}` },
      signal,
      stream: true,
      timeoutMs: SILENCE_MS,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw toConnectorError(statusFailure(response.status, falcon));
    }
    for await (const chunk of response.body ?? []) {
      const events = lines.push(decoder.decode(chunk, { stream: true })).flatMap(({ line }) => eventIn(line));
      if (events.length > 0) yield events;
    }
  } catch (error) {
    signal.throwIfAborted();
    // A quiet connection is opened again.
    if (error instanceof EgressError && error.reason === 'timeout') return;
    throw toNetworkError(error, falcon);
  }
}

function eventIn(line: string): FeedEvent[] {
  if (line.trim() === '') return [];
  try {
    const record = parseExact(line);
    const offset = at(record, 'metadata', 'offset');
    if (isRecord(record) && typeof offset === 'number') return [{ record, offset }];
  } catch {
    // Reported below.
  }
  throw new ConnectorError('unexpected_answer', 'CrowdStrike sent an event that is not valid.', 'retry');
}
