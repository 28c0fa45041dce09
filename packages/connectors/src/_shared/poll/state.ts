import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import type { JobState, LastJob } from './job.js';
import { parseSeen, type SeenGroup } from './seen.js';

/** The position in a stream. Times are milliseconds since the epoch. */
export type StreamState = {
  /** Hash of the stream's URL. If it changes, reading starts over. */
  of?: string;
  /** Start of the current time window. */
  since?: number;
  /** End of the current time window, while it is being read. */
  until?: number;
  /** When the current time window was opened, by the vendor's clock. */
  opened?: number;
  /** Next page: a link, a token, a number or an id. */
  place?: string;
  /** Time of the newest record read so far, without times in the future. */
  newest?: number;
  seen?: SeenGroup[];
  /** IDs of stored records that are to be acknowledged. */
  pending?: readonly string[];
  /** Token that the vendor handed out for the next poll. */
  token?: string;
  /** Greatest id of the last poll, and of the current one, where the newest records come first. */
  after?: string;
  top?: string;
  /** The export in progress, and when the last finished one was started. */
  job?: JobState;
  started?: number;
  /** The last export, if it can be run again. */
  last?: LastJob;
};

/** The cursor of a polled input. */
export type PollState = {
  streams: Record<string, StreamState>;
  /** When the last scheduled run started. */
  ran?: number;
};

/** Parses a stored cursor; if it is invalid, reading starts over. */
export function readState(cursor: JsonValue | undefined): PollState {
  if (!isRecord(cursor) || !isRecord(cursor['streams'])) return { streams: {} };
  const streams = Object.entries(cursor['streams']).map(([name, value]) => [name, readStream(value)] as const);
  const { ran } = cursor;
  return { streams: Object.fromEntries(streams), ...(typeof ran === 'number' && { ran }) };
}

function readStream(value: JsonValue | undefined): StreamState {
  if (!isRecord(value)) return {};
  const { of, since, until, opened, place, newest, seen, token, after, top, job, started, pending, last } = value;
  return {
    ...(typeof of === 'string' && { of }),
    ...(typeof since === 'number' && { since }),
    ...(typeof until === 'number' && { until }),
    ...(typeof opened === 'number' && { opened }),
    ...(typeof place === 'string' && { place }),
    ...(typeof newest === 'number' && { newest }),
    ...(typeof token === 'string' && { token }),
    ...(typeof after === 'string' && { after }),
    ...(typeof top === 'string' && { top }),
    ...(typeof started === 'number' && { started }),
    ...readJob(job),
    ...readLast(last),
    ...(Array.isArray(pending) && { pending: pending.filter((id) => typeof id === 'string') }),
    seen: parseSeen(seen),
  };
}

function readLast(value: JsonValue | undefined): Pick<StreamState, 'last'> {
  if (!isRecord(value)) return {};
  const { id, of } = value;
  return typeof id === 'string' && typeof of === 'string' ? { last: { id, of } } : {};
}

function readJob(value: JsonValue | undefined): Pick<StreamState, 'job'> {
  if (!isRecord(value)) return {};
  const { id, started, read } = value;
  const isJob = typeof id === 'string' && typeof started === 'number' && typeof read === 'number';
  return isJob ? { job: { id, started, read } } : {};
}
