import type { PollCursor, PollStream } from '@connector-frame/catalog/types';
import { failed } from '../connection-test/outcome.js';
import { text } from '../read.js';
import { PollError } from './poll-error.js';
import type { StreamState } from './state.js';
import { names } from './template.js';

/** A source that was quiet for longer is not read back to its last record each time. Milliseconds. */
const QUIET = 86_400_000;
/** Who begins now begins a little earlier, because clocks differ. */
const HEADSTART = 300_000;

/** Where the first stretch begins. @throws PollError `invalid_config` */
export function firstSince(cursor: PollCursor, config: { settings: Record<string, unknown> }, now: number): number {
  const field = 'start' in cursor ? cursor.start : undefined;
  const given = field === undefined ? undefined : text(config, ...field.split('/').slice(1));
  if (given === undefined) return now - Math.min(overlapOf(cursor), HEADSTART);
  const start = Date.parse(given);
  if (Number.isNaN(start))
    throw new PollError(failed('invalid_config', 'This is no moment.', { at: field }), 'permanent');
  return start;
}

/** The end of the stretch that begins at `since`; `undefined`: it has none. */
export function endOf(stream: PollStream, since: number, now: number): number | undefined {
  const { cursor } = stream;
  if (cursor.kind !== 'time' || !names(stream, 'until')) return undefined;
  const longest = cursor.longest_seconds === undefined ? Number.POSITIVE_INFINITY : cursor.longest_seconds * 1_000;
  return Math.min(Math.max(now, since + 1_000), since + longest);
}

/**
 * Where the next stretch begins, after one was read to its end. It follows the times of the records, which their own
 * clock wrote: ours may differ. A time in the future is not believed, it would hide what comes until then.
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
