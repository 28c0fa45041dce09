import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { failed } from '../connection-test/outcome.js';
import { text } from '../read.js';
import { PollError } from './poll-error.js';

const DAY_MS = 86_400_000;

/** Formatters are expensive to create. There are a few hundred zones at most. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the zone that a definition states, or the setting it names.
 *
 * @throws PollError `invalid_config` if there is no such zone
 */
export function readZone(zone: string | undefined, config: ConnectorConfig): string {
  const field = zone?.startsWith('/') ? zone : undefined;
  const name = (field === undefined ? zone : text(config, ...field.split('/').slice(1))) ?? 'UTC';
  try {
    offsetAt(0, name);
    return name;
  } catch {
    throw new PollError(failed('invalid_config', 'This is not a time zone.', { at: field }), 'permanent');
  }
}

/** Returns how far a zone's local time is ahead of UTC at a time, in milliseconds. */
export function offsetAt(ms: number, zone: string): number {
  if (zone === 'UTC') return 0;
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
    formatters.set(zone, formatter);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of formatter.formatToParts(ms)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1_000) * 1_000;
}

/**
 * Converts a local time, given as if it were UTC, to milliseconds since the epoch. Of an hour that
 * occurs twice, the first is meant.
 */
export function fromLocal(local: number, zone: string): number {
  const offsets = [offsetAt(local - DAY_MS, zone), offsetAt(local + DAY_MS, zone)];
  const matching = offsets.map((offset) => local - offset).filter((ms) => ms + offsetAt(ms, zone) === local);
  return Math.min(...(matching.length > 0 ? matching : offsets.map((offset) => local - offset)));
}
