import { Cron } from 'croner';

/** A last run that is further ahead than this was recorded while the clock was wrong. */
const CLOCK_ERROR_MS = 3_600_000;

/**
 * Returns the first due minute after a time, or `undefined` if there is none. Both are milliseconds
 * since the epoch; schedules are in UTC. `packages/catalog/src/validate/cron.ts` defines the
 * supported syntax.
 *
 * @throws TypeError if the schedule is not valid
 */
export function nextRun(schedule: string, after: number): number | undefined {
  // As in cron, `*/1` restricts nothing: croner would combine `*/1` with a weekday by OR.
  const pattern = schedule.trim().replaceAll(/(?<!\S)\*\/1(?!\S)/g, '*');
  // `sloppyRanges` accepts `5/20` for "every 20 from 5 on".
  const next = new Cron(pattern, { timezone: 'UTC', mode: '5-part', sloppyRanges: true }).nextRun(new Date(after));
  return next?.getTime();
}

/**
 * Whether the schedule has a due minute after `last`, up to and including the minute of `now`. Both
 * are milliseconds since the epoch.
 *
 * A clock that was put back by up to an hour does not repeat runs. If it was ahead by more, the next
 * run is due at once instead of after that time.
 *
 * @throws TypeError if the schedule is not valid
 */
export function isDue(schedule: string, last: number, now: number): boolean {
  if (last - now > CLOCK_ERROR_MS) return true;
  const next = nextRun(schedule, last);
  return next !== undefined && next <= now;
}
