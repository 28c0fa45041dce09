import type { PollCursor, PollStream } from '@connector-frame/catalog/types';
import { failed } from '../connection-test/outcome.js';
import { text } from '../read.js';
import { readDuration } from './duration.js';
import { PollError } from './poll-error.js';
import { secondsOf } from './setting-number.js';
import type { StreamState } from './state.js';
import { usesPlaceholder } from './template.js';
import { parseTime } from './times.js';
import type { VendorClock } from './vendor-clock.js';

/**
 * Minimum look-back, in milliseconds, for a source without recent records: its windows no longer
 * reach back to the last record.
 */
const QUIET_MS = 86_400_000;
/**
 * A first window without a start setting begins up to this many milliseconds before now, to allow
 * for clock skew. Records up to this much newer than now count as records of now.
 */
export const CLOCK_SKEW_MS = 300_000;

/**
 * Returns the start time that is configured, if any. One that is relative to now is not fixed:
 * without `now`, there is none.
 *
 * @throws PollError `invalid_config`
 */
function configuredStart(
  cursor: PollCursor,
  config: { settings: Record<string, unknown> },
  now?: number,
): number | undefined {
  const field = 'start' in cursor ? cursor.start : undefined;
  if (typeof field === 'object') {
    const ago = readDuration(config, field.ago, field.unit);
    return now === undefined || ago === undefined ? undefined : now - ago;
  }
  const given = field === undefined ? undefined : text(config, ...field.split('/').slice(1));
  if (given === undefined) return undefined;
  const start = parseTime(given, /^\d{9,11}(?:\.\d+)?$/.test(given) ? 'seconds' : 'rfc3339');
  if (start === undefined)
    throw new PollError(failed('invalid_config', 'This is not a valid date and time.', { at: field }), 'permanent');
  return start;
}

/**
 * Returns the start of the first time window.
 *
 * @param startedAt when reading was first attempted, by the vendor's clock
 * @throws PollError `invalid_config`
 */
export function firstWindowStart(
  cursor: PollCursor,
  config: { settings: Record<string, unknown> },
  startedAt: number,
): number {
  return configuredStart(cursor, config, startedAt) ?? startedAt - Math.min(overlapOf(cursor), CLOCK_SKEW_MS);
}

/**
 * Returns the start of the next window, moved back if it is in the future and not that of the
 * records: it was set while a clock was wrong.
 */
export function correctedStart(
  cursor: PollCursor,
  config: { settings: Record<string, unknown> },
  { since, newest }: { since: number; newest: number | undefined },
  now: number,
): number {
  if (since <= now + CLOCK_SKEW_MS) return since;
  const start = configuredStart(cursor, config) ?? Number.NEGATIVE_INFINITY;
  const known = newest === undefined ? now - quietOf(cursor) : newest - overlapOf(cursor);
  return Math.min(since, Math.max(start, known));
}

/** Returns the end of the window that starts at `since`, or `undefined` if it is open-ended. */
export function windowEnd(
  stream: PollStream,
  config: { settings: Record<string, unknown> },
  since: number,
  now: number,
): number | undefined {
  const { cursor, job } = stream;
  if (cursor.kind !== 'time' || !usesPlaceholder(job?.start ?? stream, 'until')) return undefined;
  const { longest_seconds: seconds } = cursor;
  const longest = seconds === undefined ? Number.POSITIVE_INFINITY : secondsOf(seconds, config) * 1_000;
  return Math.min(Math.max(now, since + 1_000), since + longest);
}

/**
 * Returns the start of the window that follows a completed one. It is based on the records' own
 * times: a window never starts later than the newest record that was read, unless the source is
 * quiet. That is decided by the vendor's clock, if it is known, and never by the later of two
 * clocks that differ.
 *
 * @param cut the window ended before now, because the vendor limits the length of a window
 * @param ahead the window's records are all newer than now
 */
export function nextWindowStart(
  cursor: PollCursor,
  { since = 0, until, newest, opened = Number.POSITIVE_INFINITY }: StreamState,
  { clock, cut, ahead }: { clock: VendorClock; cut: boolean; ahead: boolean },
): number | undefined {
  if (cursor.kind !== 'time' && cursor.kind !== 'link') return undefined;
  const overlap = overlapOf(cursor);
  if (cut && until !== undefined) return Math.max(since, until - overlap);
  const now = clock.now();
  // Late records may have been added to the pages that were read before the newest record.
  const last = newest === undefined ? (ahead ? now : undefined) : Math.min(newest, now, opened);
  const next = last === undefined ? since : Math.max(since, last - overlap);
  const quiet = quietOf(cursor);
  const earliest = clock.earliest();
  return clock.known && earliest - next > 2 * quiet ? earliest - quiet : next;
}

/**
 * Returns the earliest time that may be requested. It is some minutes later than the vendor's limit,
 * because clocks differ and a request takes time.
 */
export function retentionFloor(cursor: PollCursor, now: number): number | undefined {
  const seconds = 'retention_seconds' in cursor ? cursor.retention_seconds : undefined;
  return seconds === undefined ? undefined : now - seconds * 1_000 + CLOCK_SKEW_MS;
}

/** Returns `since`, or `floor` if that is later. */
export const notBefore = (since: number | undefined, floor: number | undefined): number | undefined =>
  since === undefined || floor === undefined ? since : Math.max(since, floor);

export const overlapOf = (cursor: PollCursor): number =>
  'overlap_seconds' in cursor ? cursor.overlap_seconds * 1_000 : 0;

const quietOf = (cursor: PollCursor): number => Math.max(QUIET_MS, 2 * overlapOf(cursor));

/**
 * Returns the newest time of a page's records, or 0. Times in the future don't count: records that
 * appear until then would be skipped. `ahead` tells whether there were any.
 */
export function newestOf(
  records: readonly { time: number | undefined }[],
  clock: VendorClock,
): { newest: number; ahead: boolean } {
  const times = records.flatMap(({ time }) => time ?? []).sort((a, b) => a - b);
  const middle = times[Math.floor((times.length - 1) / 2)] ?? 0;
  // If most records are newer than our clock, the clock is slow.
  const now = (clock.known ? clock.now() : Math.max(clock.now(), middle)) + CLOCK_SKEW_MS;
  const newest = times.findLast((time) => time <= now) ?? 0;
  return { newest, ahead: (times.at(-1) ?? 0) > now };
}
