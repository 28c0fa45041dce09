/** What five cron fields mean, as a sentence: "At 06:30, Monday to Friday (UTC)". */

interface Unit {
  low: number;
  high: number;
  names?: readonly string[];
}

/** `single`: each value on its own. `span`: from one to another. `every`: each nth of all of them, 1 for all. */
type Part =
  { is: 'single'; values: number[] } | { is: 'span'; from: number; to: number } | { is: 'every'; step: number };

const MONTHS = ' January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');

const UNITS: readonly Unit[] = [
  { low: 0, high: 59 },
  { low: 0, high: 23 },
  { low: 1, high: 31 },
  { low: 1, high: 12, names: MONTHS },
  { low: 0, high: 7, names: DAYS },
];

function parse(text: string, { low, high, names = [] }: Unit): Part | undefined {
  const value = (word: string): number => {
    const named = names.findIndex((name) => name && name.slice(0, 3).toLowerCase() === word.toLowerCase());
    return named >= 0 ? named : /^\d+$/.test(word) ? Number(word) : NaN;
  };
  const fits = (number: number): boolean => number >= low && number <= high;
  const step = /^\*(?:\/(\d+))?$/.exec(text);
  if (step) return step[1] === '0' ? undefined : { is: 'every', step: Number(step[1] ?? 1) };
  const [from = NaN, to = NaN, ...more] = text.split('-').map(value);
  if (fits(from) && fits(to) && from < to && !more.length) {
    const all = from === low && to - from >= (names === DAYS ? 6 : high - low);
    return all ? { is: 'every', step: 1 } : { is: 'span', from, to };
  }
  const values = text.split(',').map(value);
  return values.every(fits) ? { is: 'single', values } : undefined;
}

const and = (words: string[]): string => new Intl.ListFormat('en-GB').format(words);
const clock = (hour: number, minute: number): string => [hour, minute].map((n) => String(n).padStart(2, '0')).join(':');
const every = (step: number, unit: string): string => (step === 1 ? `every ${unit}` : `every ${step} ${unit}s`);
const isAll = (part: Part): boolean => part.is === 'every' && part.step === 1;

function timeOf(minute: Part, hour: Part): string | undefined {
  if (minute.is === 'span') return undefined;
  if (minute.is === 'every') {
    const often = every(minute.step, 'minute');
    if (hour.is === 'every') return hour.step === 1 ? often : undefined;
    const [from = 0, ...more] = hour.is === 'span' ? [hour.from] : hour.values;
    if (more.length) return undefined;
    return `${often} from ${clock(from, 0)} to ${clock(hour.is === 'span' ? hour.to : from, 59)}`;
  }
  const [first = 0, ...more] = minute.values;
  if (hour.is === 'single') return `at ${and(hour.values.flatMap((h) => minute.values.map((m) => clock(h, m))))}`;
  if (hour.is === 'span' && !more.length)
    return `every hour from ${clock(hour.from, first)} to ${clock(hour.to, first)}`;
  if (hour.is === 'span') return undefined;
  const often = every(hour.step, 'hour');
  return first || more.length ? `${often}, at minute ${and(minute.values.map(String))}` : often;
}

function daysOf(part: Part, unit: string, before: string, name: (value: number) => string): string {
  if (part.is === 'span') return `, ${before}${name(part.from)} to ${name(part.to)}`;
  if (part.is === 'every') return isAll(part) ? '' : ` ${every(part.step, unit)}`;
  return ` on ${before}${and(part.values.map(name))}`;
}

/** The sentence; undefined for what is no cron expression of five fields, or one that no short sentence can say. */
export function cronSentence(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  const [minute, hour, date, month, day] = UNITS.map((unit, index) => parse(fields[index] ?? '', unit));
  if (fields.length !== 5 || !minute || !hour || !date || !month || !day) return undefined;
  const time = timeOf(minute, hour);
  if (!time) return undefined;
  const dates = daysOf(date, 'day', 'day ', String) + (date.is === 'every' ? '' : ' of the month');
  const days = daysOf(day, 'day', '', (value) => DAYS[value] ?? '');
  const months = daysOf(month, 'month', '', (value) => MONTHS[value] ?? '').replace(' on ', ' in ');
  // Cron runs on either day when both are restricted.
  const when = dates && days ? `${dates} and${days}` : dates + days;
  const daily = time.startsWith('at ') && !when && !months ? ' every day' : '';
  return `${time.charAt(0).toUpperCase()}${time.slice(1)}${daily}${when}${months} (UTC)`;
}
