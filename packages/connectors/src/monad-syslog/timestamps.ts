const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Offsets from UTC in hours. Omits names that stand for different zones in different countries. */
const ZONES: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  EST: -5,
  EDT: -4,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  CET: 1,
  CEST: 2,
};

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)/;
const BSD = new RegExp(
  `^[*.]?(${MONTHS.join('|')}) {1,2}(\\d{1,2})(?: (\\d{4}))? (\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d{1,6}))?` +
    `(?: (\\d{4})(?=:? ))?(?: (${Object.keys(ZONES).join('|')})(?=:? ))?`,
);

export interface Timestamp {
  /** RFC 3339: the sender's own text if that is RFC 3339, otherwise converted to UTC. */
  time: string;
  /**
   * The original text, set if the conversion relies on assumptions: the year nearest to now if
   * there is none, UTC if no zone is given.
   */
  text?: string;
  /** Length of the original text, in characters. */
  length: number;
}

/** Parses a timestamp of RFC 5424: RFC 3339 with a zone. */
export function rfc3339At(text: string): Timestamp | undefined {
  const [time] = RFC3339.exec(text) ?? [];
  return time === undefined || Number.isNaN(Date.parse(time)) ? undefined : { time, length: time.length };
}

/**
 * Parses a timestamp of RFC 3164 and the variants that devices send: with a year before or after
 * the time, a zone or a fraction.
 */
export function bsdAt(text: string, now: number): Timestamp | undefined {
  const match = BSD.exec(text);
  if (!match) return undefined;
  const [whole, month = '', day, before, hour, minute, second, fraction = '', after, zone] = match;
  const year = before ?? after;
  const parts = [MONTHS.indexOf(month), Number(day), Number(hour), Number(minute), Number(second)] as const;
  const [, date, hours, minutes, seconds] = parts;
  if (date < 1 || date > 31 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  const shift = (zone === undefined ? 0 : (ZONES[zone] ?? 0)) * 3_600_000;
  const at = (year: number): number => Date.UTC(year, ...parts, milliseconds) - shift;
  const time = new Date(year === undefined ? nearest(at, now) : at(Number(year))).toISOString();
  return { time, text: whole, length: whole.length };
}

/**
 * Returns the time in the year nearest to `now`. A message of December may arrive in January, and
 * the sender's clock may be ahead.
 */
function nearest(at: (year: number) => number, now: number): number {
  const year = new Date(now).getUTCFullYear();
  const [best = 0] = [year - 1, year, year + 1].map(at).toSorted((a, b) => Math.abs(a - now) - Math.abs(b - now));
  return best;
}
