import { parseKeyPath, valueAt } from '../../connector-api/key-path.js';
import type { JsonValue } from '../../connector-api/record.js';
import type { Problems } from '../../problem.js';
import { withValue } from '../edit.js';
import { defineOperation } from '../operation-type.js';
import { formatTime } from '../time/format-time.js';
import { parseLayout, type LayoutToken } from '../time/layout.js';
import { parseTime, type Instant } from '../time/parse-time.js';
import { isTimeZone } from '../time/zone.js';
import { TransformRejection } from '../transform-rejection.js';

/** Formats by layout, as the reference time Mon Jan 2 15:04:05 2006 -0700. */
const LAYOUTS = {
  rfc3339: '2006-01-02T15:04:05Z07:00',
  rfc3339nano: '2006-01-02T15:04:05.000000000Z07:00',
  iso8601: '2006-01-02T15:04:05.000Z07:00',
  rfc1123: 'Mon, 02 Jan 2006 15:04:05 MST',
  rfc1123z: 'Mon, 02 Jan 2006 15:04:05 -0700',
  rfc822: '02 Jan 06 15:04 MST',
  rfc822z: '02 Jan 06 15:04 -0700',
  rfc850: 'Monday, 02-Jan-06 15:04:05 MST',
  ansic: 'Mon Jan _2 15:04:05 2006',
  unix_date: 'Mon Jan _2 15:04:05 MST 2006',
  syslog: 'Jan _2 15:04:05',
  common_log: '02/Jan/2006:15:04:05 -0700',
  datetime: '2006-01-02 15:04:05',
  date: '2006-01-02',
} as const;

const EPOCHS = ['unix', 'unix_milli', 'unix_micro', 'unix_nano'] as const;
type Epoch = (typeof EPOCHS)[number];
const DIGITS: Readonly<Record<Epoch, number>> = { unix: 0, unix_milli: 3, unix_micro: 6, unix_nano: 9 };

type Format = keyof typeof LAYOUTS | Epoch | 'custom';
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys returns string[]
const FORMATS: readonly Format[] = [...(Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[]), ...EPOCHS, 'custom'];

const format = (which: string) => `Format of the ${which}: a name, or custom.`;
const custom = (which: string) =>
  `Layout of the ${which} for custom: as %Y-%m-%d %H:%M:%S or as the reference time 2006-01-02 15:04:05.`;
const zone = (which: string, use: string) =>
  `Time zone of the ${which}, such as UTC, +02:00 or Europe/Berlin${use}. Default: UTC.`;

export const convertTimestamp = defineOperation({
  id: 'convert_timestamp',
  name: 'Convert timestamp',
  description:
    'Writes a time in another format and time zone. A value that is no time in the source format rejects the record; null stays null.',
  arguments: {
    source_key: { kind: 'key', required: true, description: 'Path of the time.' },
    source_format: { kind: 'word', words: FORMATS, default: 'rfc3339', description: format('source') },
    source_format_custom: { kind: 'text', maxLength: 200, default: '', description: custom('source') },
    source_timezone: {
      kind: 'text',
      maxLength: 100,
      default: '',
      description: zone('source', ', where its text names none'),
    },
    target_key: { kind: 'key', description: 'Path of the result. Absent: it replaces the source.' },
    target_format: { kind: 'word', words: FORMATS, default: 'rfc3339', description: format('result') },
    target_format_custom: { kind: 'text', maxLength: 200, default: '', description: custom('result') },
    target_timezone: { kind: 'text', maxLength: 100, default: '', description: zone('result', '') },
  },
  check: (values, problems) => {
    checkSide('source', values.source_format, values.source_format_custom, values.source_timezone, problems);
    checkSide('target', values.target_format, values.target_format_custom, values.target_timezone, problems);
  },
  compile: (values) => {
    const path = parseKeyPath(values.source_key) ?? [values.source_key];
    const to = values.target_key === undefined ? path : (parseKeyPath(values.target_key) ?? path);
    const read = readerOf(values.source_format, values.source_format_custom, values.source_timezone || 'UTC');
    const write = writerOf(values.target_format, values.target_format_custom, values.target_timezone || 'UTC');
    return (record, { now }) => {
      const value = valueAt(record, path);
      if (value === undefined || value === null) return record;
      const instant = read(value, now);
      if (instant) return withValue(record, to, write(instant));
      const message = `The value of ${values.source_key} is no time in the format ${values.source_format}.`;
      throw new TransformRejection('not_convertible', message);
    };
  },
});

function checkSide(side: string, name: Format, layout: string, timezone: string, problems: Problems): void {
  const given = problems.at('arguments');
  if (name === 'custom') {
    const place = given.at(`${side}_format_custom`);
    const problem = layout === '' ? 'The format custom needs a layout.' : parseLayout(layout);
    if (typeof problem === 'string') place.add(layout === '' ? 'required' : 'invalid', problem);
  }
  if (timezone !== '' && !isTimeZone(timezone))
    given.at(`${side}_timezone`).add('unknown', 'It is no time zone, such as UTC, +02:00 or Europe/Berlin.');
}

const isEpoch = (name: Format): name is Epoch => EPOCHS.some((epoch) => epoch === name);

function layoutOf(name: Exclude<Format, Epoch>, layout: string): readonly LayoutToken[] {
  const tokens = parseLayout(name === 'custom' ? layout : LAYOUTS[name]);
  return typeof tokens === 'string' ? [] : tokens;
}

/** Accepts fractions of a second in the formats of ISO 8601. */
function readerOf(name: Format, custom: string, timezone: string) {
  if (isEpoch(name)) return (value: JsonValue): Instant | undefined => parseEpoch(value, DIGITS[name]);
  const layout = layoutOf(name === 'rfc3339' || name === 'iso8601' ? 'rfc3339nano' : name, custom);
  return (value: JsonValue, now: number): Instant | undefined =>
    typeof value === 'string' && value.length <= 200 ? parseTime(value.trim(), layout, timezone, now) : undefined;
}

/** Uses the digits of the number, because a double can't hold nanoseconds. */
function parseEpoch(value: JsonValue, digits: number): Instant | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  const found = typeof text === 'string' ? /^\s*(-?)(\d{1,20})(?:\.(\d{1,20}))?\s*$/.exec(text) : undefined;
  if (!found) return undefined;
  const [, sign = '', whole = '', fraction = ''] = found;
  const nanos = BigInt(`${sign}${whole}${fraction.padEnd(9 - digits, '0').slice(0, 9 - digits)}`);
  const billion = 1_000_000_000n;
  const rest = ((nanos % billion) + billion) % billion;
  const seconds = Number((nanos - rest) / billion);
  // The range of Date.
  return Math.abs(seconds) <= 8_640_000_000_000 ? { seconds, nanos: Number(rest) } : undefined;
}

function writerOf(name: Format, custom: string, timezone: string): (instant: Instant) => JsonValue {
  if (!isEpoch(name)) {
    const layout = layoutOf(name, custom);
    return (instant) => formatTime(instant, layout, timezone);
  }
  return ({ seconds, nanos }) => {
    const value = (BigInt(seconds) * 1_000_000_000n + BigInt(nanos)) / 10n ** BigInt(9 - DIGITS[name]);
    const number = Number(value);
    return name !== 'unix_nano' && Number.isSafeInteger(number) ? number : String(value);
  };
}
