import type { Field, LayoutToken } from './layout.js';
import { fromLocal } from './zone.js';

/** A point in time, to the nanosecond. */
export interface Instant {
  /** Whole seconds since the epoch. */
  readonly seconds: number;
  readonly nanos: number;
}

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const ZONE_NAMES: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  Z: 0,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  CET: 1,
  CEST: 2,
};

type Parts = Partial<
  Record<'year' | 'month' | 'day' | 'dayOfYear' | 'hour' | 'minute' | 'second' | 'nanos' | 'offset' | 'epoch', number>
> & { pm?: boolean };

/** What a field matches, and how it is read. */
const READERS: Readonly<Record<Field, readonly [RegExp, (text: string, parts: Parts) => void]>> = {
  year: [/\d{4}/y, (text, parts) => (parts.year = Number(text))],
  year2: [/\d{2}/y, (text, parts) => (parts.year = Number(text) + (Number(text) < 69 ? 2000 : 1900))],
  month: [/\d{2}/y, (text, parts) => (parts.month = Number(text))],
  month1: [/\d{1,2}/y, (text, parts) => (parts.month = Number(text))],
  monthName: [/[A-Za-z]{3,9}/y, readMonth],
  monthShort: [/[A-Za-z]{3}/y, readMonth],
  day: [/\d{2}/y, (text, parts) => (parts.day = Number(text))],
  day1: [/\d{1,2}/y, (text, parts) => (parts.day = Number(text))],
  dayPadded: [/ ?\d{1,2}/y, (text, parts) => (parts.day = Number(text))],
  dayOfYear: [/\d{3}/y, (text, parts) => (parts.dayOfYear = Number(text))],
  weekday: [/[A-Za-z]{6,9}/y, () => undefined],
  weekdayShort: [/[A-Za-z]{3}/y, () => undefined],
  hour: [/\d{2}/y, (text, parts) => (parts.hour = Number(text))],
  hour12: [/\d{2}/y, (text, parts) => (parts.hour = Number(text))],
  hour12Short: [/\d{1,2}/y, (text, parts) => (parts.hour = Number(text))],
  minute: [/\d{2}/y, (text, parts) => (parts.minute = Number(text))],
  minute1: [/\d{1,2}/y, (text, parts) => (parts.minute = Number(text))],
  second: [/\d{2}/y, (text, parts) => (parts.second = Number(text))],
  second1: [/\d{1,2}/y, (text, parts) => (parts.second = Number(text))],
  fraction: [/\d{1,9}/y, readFraction],
  fractionDigits: [/\d{1,9}/y, readFraction],
  amPm: [/[AaPp][Mm]/y, (text, parts) => (parts.pm = /^p/i.test(text))],
  offset: [/[+-]\d\d:?\d\d|Z/y, readOffset],
  offsetColon: [/[+-]\d\d:?\d\d|Z/y, readOffset],
  offsetZ: [/[+-]\d\d:?\d\d|[Zz]/y, readOffset],
  zone: [/[A-Z]{1,5}/y, (text, parts) => (parts.offset = (ZONE_NAMES[text] ?? Number.NaN) * 3600)],
  epoch: [/-?\d{1,12}/y, (text, parts) => (parts.epoch = Number(text))],
};

function readMonth(text: string, parts: Parts): void {
  parts.month = MONTHS.findIndex((name) => name.slice(0, 3).toLowerCase() === text.slice(0, 3).toLowerCase()) + 1;
}

function readFraction(text: string, parts: Parts): void {
  parts.nanos = Number(text.padEnd(9, '0'));
}

function readOffset(text: string, parts: Parts): void {
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(-2));
  parts.offset = /^z/i.test(text) ? 0 : (text.startsWith('-') ? -60 : 60) * minutes;
}

/**
 * Parses a time by a layout. A fraction is optional. A text without a year is in the year in which
 * it is closest to `now`.
 * @param zone time zone of a text without an offset
 * @param now milliseconds since the epoch
 * @returns `undefined` if the text doesn't have this layout, or is no valid time
 */
export function parseTime(
  text: string,
  layout: readonly LayoutToken[],
  zone: string,
  now: number,
): Instant | undefined {
  const parts: Parts = {};
  let at = 0;
  for (const [index, token] of layout.entries()) {
    if ('literal' in token) {
      if (text.startsWith(token.literal, at)) {
        at += token.literal.length;
        continue;
      }
      const next = layout[index + 1];
      if (token.literal === '.' && next && 'field' in next && next.field.startsWith('fraction')) continue;
      return undefined;
    }
    const before = layout[index - 1];
    const isOptional = before && 'literal' in before && before.literal === '.';
    if (token.field.startsWith('fraction') && isOptional && text[at - 1] !== '.') continue;
    const [pattern, read] = READERS[token.field];
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) return undefined;
    read(found, parts);
    at += found.length;
  }
  return at === text.length ? instantOf(parts, zone, now) : undefined;
}

function instantOf(parts: Parts, zone: string, now: number): Instant | undefined {
  const { nanos = 0, epoch, pm } = parts;
  if (epoch !== undefined) return { seconds: epoch, nanos };
  const { month = 1, minute = 0, second = 0 } = parts;
  let { hour = 0, day = 1 } = parts;
  if (pm !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (pm ? 12 : 0);
  }
  const thisYear = new Date(now).getUTCFullYear();
  const local = (year: number): number => Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
  let { year } = parts;
  if (year === undefined) {
    const distance = (one: number): number => Math.abs(local(one) - now / 1000);
    year = [thisYear - 1, thisYear, thisYear + 1].reduce((a, b) => (distance(b) < distance(a) ? b : a));
  }
  if (parts.dayOfYear !== undefined) day = parts.dayOfYear;
  const lastDay = parts.dayOfYear === undefined ? new Date(Date.UTC(year, month, 0)).getUTCDate() : 366;
  const isValid = month >= 1 && month <= 12 && day >= 1 && day <= lastDay && hour < 24 && minute < 60 && second <= 60;
  if (!isValid) return undefined;
  const seconds = parts.offset === undefined ? fromLocal(zone, local(year)) : local(year) - parts.offset;
  return Number.isFinite(seconds) ? { seconds, nanos } : undefined;
}
