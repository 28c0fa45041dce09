const formatters = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATTERS = 500;

/** Returns whether a time zone is UTC, an offset such as +02:00, or in the IANA database. */
export function isTimeZone(zone: string): boolean {
  try {
    return zone !== '' && offsetOf(zone, 0) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Returns the offset of a time zone at a time, in seconds east of UTC.
 * @throws {RangeError} for an unknown time zone
 */
export function offsetOf(zone: string, epochSeconds: number): number {
  if (zone === 'UTC' || zone === 'Z') return 0;
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60);
  const parts = Object.fromEntries(
    formatterOf(zone)
      .formatToParts(new Date(epochSeconds * 1000))
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - epochSeconds;
}

/** Returns the time at which clocks in a zone show what they show in UTC at `localSeconds`. */
export function fromLocal(zone: string, localSeconds: number): number {
  const guess = localSeconds - offsetOf(zone, localSeconds);
  // The offset differs if the clocks change between the guess and the time.
  return localSeconds - offsetOf(zone, guess);
}

/** Creating a formatter takes much longer than using one. */
function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formatters.size >= MAX_FORMATTERS) formatters.clear();
    formatters.set(zone, formatter);
  }
  return formatter;
}
