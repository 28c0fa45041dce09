import type { PollCursor, PollStream } from '@connector-frame/catalog/types';
import { failed } from '../connection-test/outcome.js';
import { text } from '../read.js';
import { PollError } from './poll-error.js';
import type { StreamState } from './state.js';
import { names } from './template.js';

/**
 * Minimum look-back, in milliseconds, for a source without recent records: its windows no longer
 * reach back to the last record.
 */
const QUIET = 86_400_000;
/**
 * A first window without a start setting begins up to this many milliseconds before now, to allow
 * for clock skew.
 */
const HEADSTART = 300_000;

/** Returns the start of the first time window. @throws PollError `invalid_config` */
export function firstSince(cursor: PollCursor, config: { settings: Record<string, unknown> }, now: number): number {
  const field = 'start' in cursor ? cursor.start : undefined;
  const given = field === undefined ? undefined : text(config, ...field.split('/').slice(1));
  if (given === undefined) return now - Math.min(overlapOf(cursor), HEADSTART);
  const start = Date.parse(given);
  if (Number.isNaN(start))
    throw new PollError(failed('invalid_config', 'This is not a valid date and time.', { at: field }), 'permanent');
  return start;
}

/** Returns the end of the window that starts at `since`, or `undefined` if it is open-ended. */
export function endOf(stream: PollStream, since: number, now: number): number | undefined {
  const { cursor } = stream;
  if (cursor.kind !== 'time' || !names(stream, 'until')) return undefined;
  const longest = cursor.longest_seconds === undefined ? Number.POSITIVE_INFINITY : cursor.longest_seconds * 1_000;
  return Math.min(Math.max(now, since + 1_000), since + longest);
}

/**
 * Returns the start of the window that follows a completed one. It is based on the records' own
 * times, because the vendor's clock may differ from ours. Times in the future are clamped to `now`:
 * otherwise, records that arrive until then would be skipped.
 */
export function nextSince(
  cursor: PollCursor,
  { since = 0, until, newest }: StreamState,
  { now, cut }: { now: number; cut: boolean },
): number | undefined {
  if (cursor.kind !== 'time' && cursor.kind !== 'link') return undefined;
  const overlap = overlapOf(cursor);
  if (cut && until !== undefined) return Math.max(since, until - overlap);
  const next = newest === undefined ? since : Math.max(since, Math.min(newest, now) - overlap);
  const quiet = Math.max(QUIET, 2 * overlap);
  return now - next > 2 * quiet ? now - quiet : next;
}

const overlapOf = (cursor: PollCursor): number => ('overlap_seconds' in cursor ? cursor.overlap_seconds * 1_000 : 0);
