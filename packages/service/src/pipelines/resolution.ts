import { invalidRequest } from '../api-error.js';
import type { Span } from './metric-series.js';
import { BY_MINUTE_MS } from './running/counts-recorder.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = { m: MINUTE, h: HOUR, d: DAY } as const;
/** Maximum values of one series. */
const MAX_VALUES = 2_000;

/** Default resolutions: the first one whose window is long enough. */
const DEFAULTS = [
  { window: 6 * HOUR, step: MINUTE },
  { window: DAY, step: 5 * MINUTE },
  { window: 31 * DAY, step: HOUR },
  { window: Infinity, step: DAY },
] as const;

/** Parses a resolution: a number of minutes, hours or days, such as `5m`. Returns milliseconds. */
export function parseResolution(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  if (unit !== 'm' && unit !== 'h' && unit !== 'd') return undefined;
  return Number(count) * UNITS[unit];
}

export function formatResolution(step: number): string {
  const [unit, length] = step % DAY === 0 ? ['d', DAY] : step % HOUR === 0 ? ['h', HOUR] : ['m', MINUTE];
  return `${step / length}${unit}`;
}

export interface Window {
  start?: Date | undefined;
  end?: Date | undefined;
  /** Milliseconds. */
  resolution?: number | undefined;
}

/**
 * Returns the span of a series.
 * @param window `end` defaults to now, `start` to `defaultMs` before the end
 * @throws ApiError 400
 */
export function spanOf({ start, end, resolution }: Window, now: number, defaultMs: number): Span {
  const to = end?.getTime() ?? now;
  const from = start?.getTime() ?? to - defaultMs;
  if (from >= to) throw invalidRequest('start must be before end.');
  // Older counts are kept by the hour; a finer series would show them in the last minute of it.
  const finest = from < now - BY_MINUTE_MS ? HOUR : MINUTE;
  const byWindow = DEFAULTS.find(({ window }) => to - from <= window)?.step ?? DAY;
  const step = resolution ?? Math.max(finest, byWindow);
  if (step % finest !== 0)
    throw invalidRequest('Counts older than 24 hours are kept by the hour. Use a resolution of whole hours.');
  const first = Math.floor(from / step) * step;
  if ((to - first) / step > MAX_VALUES)
    throw invalidRequest(`A series has at most ${MAX_VALUES} values. Use a larger resolution or a shorter window.`);
  return { start: first, end: to, step };
}
