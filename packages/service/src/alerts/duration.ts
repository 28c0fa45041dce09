import { z } from 'zod';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** The longest window and the longest time between repeated alerts. */
export const MAX_DURATION_MS = 30 * DAY;
const MIN_DURATION_MS = 30 * SECOND;

/**
 * Up to this length, windows are measured in memory, in steps of ten seconds. Longer ones are read
 * from the stored counts.
 */
export const SHORT_WINDOW_MS = 10 * MINUTE;
/** Up to this length, counts are stored by the minute, and after it by the hour. */
export const BY_MINUTE_WINDOW_MS = DAY;

const PATTERN = /^(?:\d{1,7}[smhd]){1,4}$/;

/** Returns the milliseconds of a text that matches the pattern. */
const millisecondsIn = (text: string): number =>
  [...text.matchAll(/(\d+)([smhd])/g)].reduce(
    (sum, [, digits, unit = '']) => sum + Number(digits) * (UNITS[unit] ?? 0),
    0,
  );

/** A duration in a rule: its text, as clients gave it, and its length. */
export interface Duration {
  text: string;
  ms: number;
}

const parse = (text: string): Duration => ({ text, ms: millisecondsIn(text) });
const isInRange = ({ ms }: Duration): boolean => ms >= MIN_DURATION_MS && ms <= MAX_DURATION_MS;

/** A duration such as `30s`, `5m`, `1h30m` or `7d`, from 30 seconds to 30 days. */
export const durationSchema = z
  .string()
  .regex(PATTERN, 'Must be a duration: 30s, 5m, 1h30m or 7d.')
  .transform(parse)
  .refine(isInRange, 'Must be at least 30s and at most 30d.');

/** A duration of which the engine can measure the counts exactly. */
export const windowSchema = durationSchema.refine(
  ({ ms }) => ms % stepOf(ms) === 0,
  'Must be measurable: up to 10m in steps of 10 seconds, up to 24h in whole minutes, and longer in whole hours.',
);

/** Returns the resolution at which counts of so long ago are known, in milliseconds. */
export const stepOf = (ms: number): number =>
  ms <= SHORT_WINDOW_MS ? 10 * SECOND : ms <= BY_MINUTE_WINDOW_MS ? MINUTE : HOUR;
