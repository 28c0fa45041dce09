import type { Field, LayoutToken } from './layout.js';
import { MONTHS, WEEKDAYS, type Instant } from './parse-time.js';
import { offsetOf } from './zone.js';

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

/** Formats a time by a layout, as clocks show it in a time zone. */
export function formatTime({ seconds, nanos }: Instant, layout: readonly LayoutToken[], zone: string): string {
  const offset = offsetOf(zone, seconds);
  const local = new Date((seconds + offset) * 1000);
  return layout
    .map((token) => ('literal' in token ? token.literal : write(token, { local, offset, zone, nanos, seconds })))
    .join('');
}

interface Moment extends Instant {
  /** The local time, as if it were UTC. */
  readonly local: Date;
  /** Seconds east of UTC. */
  readonly offset: number;
  readonly zone: string;
}

function write({ field, digits = 9 }: { field: Field; digits?: number }, moment: Moment): string {
  const { local, offset, zone, nanos, seconds } = moment;
  const hour = local.getUTCHours();
  const colon = `${offset < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offset) / 3600))}:${pad((Math.abs(offset) / 60) % 60)}`;
  switch (field) {
    case 'year':
      return pad(local.getUTCFullYear(), 4);
    case 'year2':
      return pad(local.getUTCFullYear() % 100);
    case 'month':
      return pad(local.getUTCMonth() + 1);
    case 'month1':
      return String(local.getUTCMonth() + 1);
    case 'monthName':
      return MONTHS[local.getUTCMonth()] ?? '';
    case 'monthShort':
      return (MONTHS[local.getUTCMonth()] ?? '').slice(0, 3);
    case 'day':
      return pad(local.getUTCDate());
    case 'day1':
      return String(local.getUTCDate());
    case 'dayPadded':
      return String(local.getUTCDate()).padStart(2);
    case 'dayOfYear':
      return pad(Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 0)) / 86_400_000), 3);
    case 'weekday':
      return WEEKDAYS[local.getUTCDay()] ?? '';
    case 'weekdayShort':
      return (WEEKDAYS[local.getUTCDay()] ?? '').slice(0, 3);
    case 'hour':
      return pad(hour);
    case 'hour12':
      return pad(hour % 12 || 12);
    case 'hour12Short':
      return String(hour % 12 || 12);
    case 'minute':
      return pad(local.getUTCMinutes());
    case 'minute1':
      return String(local.getUTCMinutes());
    case 'second':
      return pad(local.getUTCSeconds());
    case 'second1':
      return String(local.getUTCSeconds());
    case 'fraction':
    case 'fractionDigits':
      return pad(nanos, 9).slice(0, digits);
    case 'amPm':
      return hour < 12 ? 'AM' : 'PM';
    case 'offset':
      return colon.replace(':', '');
    case 'offsetColon':
      return colon;
    case 'offsetZ':
      return offset === 0 ? 'Z' : colon;
    case 'zone':
      return offset === 0 && (zone === 'UTC' || zone === 'Z') ? 'UTC' : colon;
    case 'epoch':
      return String(seconds);
    default:
      return '';
  }
}
