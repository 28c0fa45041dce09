import { Cron } from 'croner';

/**
 * Whether the schedule has a due minute after `last`, up to and including the minute of `now`. Both
 * are milliseconds since the epoch; schedules are in UTC. `packages/catalog/src/validate/cron.ts`
 * defines the supported syntax.
 *
 * @throws TypeError if the schedule is not valid
 */
export function isDue(schedule: string, last: number, now: number): boolean {
  // As in cron, `*/1` restricts nothing: croner would combine `*/1` with a weekday by OR.
  const pattern = schedule.trim().replaceAll(/(?<!\S)\*\/1(?!\S)/g, '*');
  // `sloppyRanges` accepts `5/20` for "every 20 from 5 on".
  const next = new Cron(pattern, { timezone: 'UTC', mode: '5-part', sloppyRanges: true }).nextRun(new Date(last));
  return next !== null && next.getTime() <= now;
}
