import type { PollTimeForm } from '@connector-frame/catalog/types';
import { formatPattern, parsePattern } from './time-pattern.js';
import { fromLocal } from './time-zone.js';

/** Nanoseconds in each unit: a floating-point number of seconds would lose digits. */
const UNITS: Readonly<Record<string, bigint>> = {
  seconds: 1_000_000_000n,
  milliseconds: 1_000_000n,
  microseconds: 1_000n,
  ticks: 100n,
  nanoseconds: 1n,
};
const RELATIVE: Readonly<Record<string, number>> = {
  seconds_ago: 1_000,
  minutes_ago: 60_000,
  hours_ago: 3_600_000,
  days_ago: 86_400_000,
};
const LATEST = Date.UTC(2200, 0);

interface FormatOptions {
  /** Round up instead of down to the format's precision: for the end of a time window. */
  up?: boolean;
  /** For relative times. Default: the system's time. */
  now?: number;
  /** Zone of patterns without one. Default `UTC`. */
  zone?: string;
}

/** Whether a format is a number. */
export const isNumeric = (form: PollTimeForm): boolean => form in RELATIVE || epochOf(form) !== undefined;

/** Formats a time, in milliseconds since the epoch, for a vendor. */
export function formatTime(
  ms: number,
  form: PollTimeForm,
  { up = false, now = Date.now(), zone = 'UTC' }: FormatOptions = {},
): string {
  if (form.includes('%')) return formatPattern(ms, form, zone, up);
  const unit = RELATIVE[form];
  // The window must not shrink: its start is rounded to an earlier time, its end to a later one.
  if (unit !== undefined) return String(Math.max(0, (up ? Math.floor : Math.ceil)((now - ms) / unit)));
  const epoch = epochOf(form);
  if (epoch) {
    const nanoseconds = BigInt(Math.floor(ms - epoch.start)) * 1_000_000n;
    return String((nanoseconds + (up ? epoch.unit - 1n : 0n)) / epoch.unit);
  }
  if (form === 'rfc3339') return new Date(ms).toISOString();
  if (form === 'http') return new Date((up ? Math.ceil : Math.floor)(ms / 1_000) * 1_000).toUTCString();
  if (form === 'date') return new Date(ms).toISOString().slice(0, 10);
  const seconds = (up ? Math.ceil : Math.floor)(ms / 1_000);
  return new Date(seconds * 1_000).toISOString().replace('.000Z', form === 'rfc3339_offset' ? '+00:00' : 'Z');
}

/**
 * Parses a vendor's time to milliseconds since the epoch.
 *
 * @param zone of a time that states none
 * @returns `undefined` if it is not a time between 1970 and 2200
 */
export function parseTime(value: unknown, form: PollTimeForm = 'rfc3339', zone = 'UTC'): number | undefined {
  const ms = millisecondsOf(value, form, zone);
  return ms >= 0 && ms <= LATEST ? ms : undefined;
}

function millisecondsOf(value: unknown, form: PollTimeForm, zone: string): number {
  const epoch = epochOf(form);
  if (epoch) {
    const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()));
    if (!isNumber) return Number.NaN;
    // Rounds to microseconds: a number of nanoseconds exceeds 2^53.
    const unit = Number(epoch.unit);
    const ms = unit < 1_000_000 ? Number(value) / (1_000_000 / unit) : Number(value) * (unit / 1_000_000);
    return epoch.start + Math.round(ms * 1_000) / 1_000;
  }
  if (form.includes('%'))
    return typeof value === 'string' || typeof value === 'number'
      ? parsePattern(String(value), form, zone)
      : Number.NaN;
  if (typeof value !== 'string') return Number.NaN;
  return parseDate(value.trim().replace(/(:\d{2}),(\d)/, '$1.$2'), zone);
}

/** Parses RFC 3339, and what vendors send in its place. */
function parseDate(text: string, zone: string): number {
  const [, day, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?$/.exec(text) ?? [];
  // `Date.parse` would use the zone of this process for a time without one.
  if (day !== undefined) return fromLocal(Date.parse(`${day}T${time}Z`), zone);
  const hasZone = /(?:[A-Z]|:\d{2}.*[+-]\d{2}(?::?\d{2})?)\)?$/i.test(text) && !/\d\s?[AP]M$/i.test(text);
  if (hasZone) return Date.parse(text);
  return fromLocal(Date.parse(`${text} UTC`), zone);
}

function epochOf(form: PollTimeForm): { unit: bigint; start: number } | undefined {
  const [name = '', day = '1970-01-01'] = form.split('@');
  const unit = UNITS[name];
  return unit === undefined ? undefined : { unit, start: Date.parse(day) };
}
