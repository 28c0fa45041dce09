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
 * Returns start and end of a window, and the finest interval in which its counts are kept.
 * @throws ApiError 400
 */
function boundsOf({ start, end }: Omit<Window, 'resolution'>, now: number, defaultMs: number) {
  const to = end?.getTime() ?? now;
  const from = start?.getTime() ?? to - defaultMs;
  if (from >= to)
    throw invalidRequest('start must be before end.', { issues: [{ path: '/start', message: 'Not before end.' }] });
  return { from, to, finest: from < now - BY_MINUTE_MS ? HOUR : MINUTE };
}

/**
 * Returns the window of sums: from a whole minute on, or from a whole hour where counts are kept by
 * the hour.
 * @param window as for `spanOf`
 * @throws ApiError 400
 */
export function windowOf(
  window: Omit<Window, 'resolution'>,
  now: number,
  defaultMs: number,
): Pick<Span, 'start' | 'end'> {
  const { from, to, finest } = boundsOf(window, now, defaultMs);
  return { start: Math.floor(from / finest) * finest, end: to };
}

/**
 * Returns the span of a series.
 * @param window `end` defaults to now, `start` to `defaultMs` before the end
 * @throws ApiError 400
 */
export function spanOf({ resolution, ...window }: Window, now: number, defaultMs: number): Span {
  const { from, to, finest } = boundsOf(window, now, defaultMs);
  // Older counts are kept by the hour; a finer series would show them in the last minute of it.
  const byWindow = DEFAULTS.find((each) => to - from <= each.window)?.step ?? DAY;
  const step = resolution ?? Math.max(finest, byWindow);
  if (step % finest !== 0)
    throw invalidResolution('Counts older than 24 hours are kept by the hour. Use a resolution of whole hours.');
  const first = Math.floor(from / step) * step;
  if ((to - first) / step > MAX_VALUES)
    throw invalidResolution(`A series has at most ${MAX_VALUES} values. Use a larger one, or a shorter window.`);
  return { start: first, end: to, step };
}

const invalidResolution = (message: string) =>
  invalidRequest(message, { issues: [{ path: '/resolution', message: 'Not possible for this window.' }] });
