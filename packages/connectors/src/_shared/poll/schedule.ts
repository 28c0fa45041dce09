/**
 * Evaluates five-field cron schedules, in UTC. `packages/catalog/src/validate/cron.ts` defines the
 * supported syntax.
 */

const MINUTE = 60_000;
const BOUNDS = [
  { low: 0, high: 59, names: '' },
  { low: 0, high: 23, names: '' },
  { low: 1, high: 31, names: '' },
  { low: 1, high: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec' },
  { low: 0, high: 7, names: 'sun mon tue wed thu fri sat' },
];

/**
 * Whether the schedule has a due minute after `last`, up to and including the minute of `now`. Both
 * are milliseconds since the epoch.
 */
export function isDue(schedule: string, last: number, now: number): boolean {
  const fields = schedule.trim().split(/\s+/).map(valuesOf);
  const [minutes, hours, days, months, weekdays] = fields;
  if (!minutes || !hours || !days || !months || !weekdays) return false;
  for (let minute = Math.floor(last / MINUTE) + 1; minute <= Math.floor(now / MINUTE); minute += 1) {
    const at = new Date(minute * MINUTE);
    if (!minutes.has(at.getUTCMinutes()) || !hours.has(at.getUTCHours()) || !months.has(at.getUTCMonth() + 1)) continue;
    const day = days.has(at.getUTCDate());
    const weekday = weekdays.has(at.getUTCDay());
    // If day of month and weekday are both restricted, one match is enough, as in crontab(5).
    const both = days.size < 31 && weekdays.size < 7;
    if (both ? day || weekday : day && weekday) return true;
  }
  return false;
}

function valuesOf(field: string, index: number): Set<number> | undefined {
  const bounds = BOUNDS[index];
  if (!bounds) return undefined;
  const { low, high, names } = bounds;
  const numberOf = (text: string): number => {
    const named = names.split(' ').indexOf(text.toLowerCase());
    return named < 0 ? Number(text) : named + low;
  };
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step] = part.split('/');
    const [from = '', to = step === undefined ? from : String(high)] =
      range === '*' ? [String(low), String(high)] : range.split('-');
    for (let value = numberOf(from); value <= numberOf(to); value += Number(step ?? 1))
      // Sunday is both 0 and 7.
      values.add(index === 4 ? value % 7 : value);
  }
  return values;
}
