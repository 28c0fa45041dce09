import { isRecord, type JsonValue } from '../../records/record.js';
import { readSeen, type SeenEntry } from './seen.js';

/** Where a stream has come to. Times are milliseconds since 1970. */
export type StreamState = {
  /** What was read: a hash of the address. Another one begins anew. */
  of?: string;
  /** Start of the stretch that is read. */
  since?: number;
  /** Its end, while it is read. */
  until?: number;
  /** Where to go on: a link, a token, a number, an id. */
  place?: string;
  /** Time of the newest record so far. */
  newest?: number;
  seen?: SeenEntry[];
};

/** The cursor of a polled input. */
export type PollState = {
  streams: Record<string, StreamState>;
  /** When the last scheduled reading began. */
  ran?: number;
};

/** A cursor as it was stored; what is none begins anew. */
export function readState(cursor: JsonValue | undefined): PollState {
  if (!isRecord(cursor) || !isRecord(cursor['streams'])) return { streams: {} };
  const streams = Object.entries(cursor['streams']).map(([name, value]) => [name, readStream(value)] as const);
  const { ran } = cursor;
  return { streams: Object.fromEntries(streams), ...(typeof ran === 'number' && { ran }) };
}

function readStream(value: JsonValue | undefined): StreamState {
  if (!isRecord(value)) return {};
  const { of, since, until, place, newest, seen } = value;
  return {
    ...(typeof of === 'string' && { of }),
    ...(typeof since === 'number' && { since }),
    ...(typeof until === 'number' && { until }),
    ...(typeof place === 'string' && { place }),
    ...(typeof newest === 'number' && { newest }),
    seen: readSeen(seen),
  };
}
