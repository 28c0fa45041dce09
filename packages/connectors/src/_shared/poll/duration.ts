import type { ConnectorConfig, PollDuration } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

const UNITS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const SUFFIXES: Readonly<Record<string, number>> = {
  ms: 1,
  s: UNITS.seconds,
  m: UNITS.minutes,
  h: UNITS.hours,
  d: UNITS.days,
  w: 7 * UNITS.days,
};
const PART = /(\d+(?:\.\d+)?)\s*(ms|[smhdw])\s*/g;

/**
 * Returns the length of time that a setting contains, in milliseconds; `undefined` if it is empty.
 *
 * @throws PollError `invalid_config`
 */
export function readDuration(
  config: Pick<ConnectorConfig, 'settings'>,
  field: string,
  unit: PollDuration['unit'],
): number | undefined {
  const value: unknown = getAt({ settings: config.settings }, field);
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  if (text === '') return undefined;
  const ms = parseDuration(text, unit);
  if (ms === undefined)
    throw new PollError(failed('invalid_config', 'Enter a length of time, such as 24h.', { at: field }), 'permanent');
  return ms;
}

function parseDuration(text: string, unit: PollDuration['unit']): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return unit === undefined ? undefined : Number(text) * UNITS[unit];
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return undefined;
  return parts.reduce((sum, [, count, suffix = '']) => sum + Number(count) * (SUFFIXES[suffix] ?? 0), 0);
}
