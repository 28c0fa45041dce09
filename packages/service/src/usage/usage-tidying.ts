import type { UsageWriter } from '../store/usage-writer.js';
import { DAY, HOUR, minuteOf } from './periods.js';

/** Milliseconds for which usage is kept by the minute: longer than series by the minute reach back. */
export const BY_MINUTE = DAY + HOUR;

/**
 * Returns a function that aggregates older usage by hour and deletes expired usage.
 * It does so once an hour, however often it is called.
 * @param days days for which usage is kept
 */
export function createUsageTidying(
  writer: Pick<UsageWriter, 'moveToHours' | 'removeBefore'>,
  days: number,
): (now: number) => Promise<void> {
  let doneAt: number | undefined;
  return async (now) => {
    if (doneAt !== undefined && Math.abs(now - doneAt) < HOUR) return;
    await writer.moveToHours(minuteOf(Math.floor((now - BY_MINUTE) / HOUR) * HOUR));
    await writer.removeBefore(minuteOf(Math.floor((now - days * DAY) / DAY) * DAY));
    doneAt = now;
  };
}
