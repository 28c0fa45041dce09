/** Periods of usage. All of them begin and end at midnight in UTC. */

/** Milliseconds. */
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type Timeframe = 'day' | 'month' | 'year';

/** Start and end of a period, in milliseconds since 1970. The end is the start of the next one. */
export interface Period {
  start: number;
  end: number;
}

/** Returns the day, calendar month or calendar year that contains `time`. */
export function periodOf(timeframe: Timeframe, time: number): Period {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (timeframe === 'day') return { start: Date.UTC(year, month, day), end: Date.UTC(year, month, day + 1) };
  if (timeframe === 'month') return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  return { start: Date.UTC(year, 0), end: Date.UTC(year + 1, 0) };
}

/** Returns whole minutes, hours or days since 1970. */
export const minuteOf = (time: number): number => Math.floor(time / MINUTE);
export const hourOf = (time: number): number => Math.floor(time / HOUR);
export const dayOf = (time: number): number => Math.floor(time / DAY);
