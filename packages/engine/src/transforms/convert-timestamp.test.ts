import { expect, test } from 'vitest';
import type { JsonValue } from '../connector-api/record.js';
import { compileTransform } from './compile-transform.js';
import { parseTransform } from './parse-transform.js';

const NOW = Date.UTC(2026, 0, 2, 12, 0, 0);

function convert(value: JsonValue, given: object): unknown {
  const operation = { operation: 'convert_timestamp', arguments: { source_key: 't', ...given } };
  const [stage] = compileTransform({ operations: [operation] });
  if (stage?.kind !== 'each') throw new Error('There is no stage.');
  return stage.apply({ t: value }, { now: NOW, recordId: 'b.0' })?.['t'];
}

test.each<[JsonValue, object, unknown]>([
  ['2026-03-18T12:34:56Z', { target_format: 'unix' }, 1773837296],
  ['2026-03-18T12:34:56.123456789Z', { target_format: 'unix_nano' }, '1773837296123456789'],
  ['2026-03-18T12:34:56.123456789Z', { target_format: 'RFC3339Nano' }, '2026-03-18T12:34:56.123456789Z'],
  ['2026-03-18T12:34:56.5+05:30', { target_format: 'iso8601' }, '2026-03-18T07:04:56.500Z'],
  [1773837296, { source_format: 'unix' }, '2026-03-18T12:34:56Z'],
  ['1773837296.25', { source_format: 'unix', target_format: 'unix_milli' }, 1773837296250],
  [1773837296789, { source_format: 'unix_milli', target_format: 'iso8601' }, '2026-03-18T12:34:56.789Z'],
  ['1773837296789000001', { source_format: 'unix_nano', target_format: 'unix_nano' }, '1773837296789000001'],
  [-1, { source_format: 'unix_milli', target_format: 'iso8601' }, '1969-12-31T23:59:59.999Z'],
  ['Wed, 18 Mar 2026 12:34:56 GMT', { source_format: 'rfc1123' }, '2026-03-18T12:34:56Z'],
  ['Wed Mar  8 12:34:56 2026', { source_format: 'ansic' }, '2026-03-08T12:34:56Z'],
  ['18/Mar/2026:12:34:56 -0700', { source_format: 'common_log' }, '2026-03-18T19:34:56Z'],
  // Without a year: the one closest to now.
  ['Dec 31 23:59:59', { source_format: 'syslog' }, '2025-12-31T23:59:59Z'],
  ['Jan  3 00:00:00', { source_format: 'syslog' }, '2026-01-03T00:00:00Z'],
  ['2026-07-01 12:00:00', { source_format: 'datetime', source_timezone: 'Europe/Berlin' }, '2026-07-01T10:00:00Z'],
  ['2026-01-01 12:00:00', { source_format: 'datetime', source_timezone: 'Europe/Berlin' }, '2026-01-01T11:00:00Z'],
  // The hour before and after clocks go forward.
  ['2026-03-29 01:59:59', { source_format: 'datetime', source_timezone: 'Europe/Berlin' }, '2026-03-29T00:59:59Z'],
  ['2026-03-29 03:00:00', { source_format: 'datetime', source_timezone: 'Europe/Berlin' }, '2026-03-29T01:00:00Z'],
  ['2026-07-01T10:00:00Z', { target_timezone: 'America/New_York' }, '2026-07-01T06:00:00-04:00'],
  ['2026-07-01T10:00:00Z', { target_timezone: '+05:30', target_format: 'rfc1123z' }, 'Wed, 01 Jul 2026 15:30:00 +0530'],
  ...[
    ['01/02/2006 03:04:05 PM', '03/18/2026 09:04:05 PM', '2026-03-18T21:04:05Z'],
    ['%m/%d/%Y %I:%M:%S %p', '03/18/2026 12:04:05 AM', '2026-03-18T00:04:05Z'],
    ['%Y-%m-%dT%H:%M:%S.%f%z', '2026-03-18T12:34:56.123456+0200', '2026-03-18T10:34:56Z'],
    ['%Y%j', '2024366', '2024-12-31T00:00:00Z'],
    ['%s', '1773837296', '2026-03-18T12:34:56Z'],
    ['2 January 2006', '9 february 2026', '2026-02-09T00:00:00Z'],
  ].map(([layout = '', text = '', expected]): [JsonValue, object, unknown] => [
    text,
    { source_format: 'custom', source_format_custom: layout },
    expected,
  ]),
  ...[
    ['%A %d %B %Y, day %j', 'Tuesday 31 December 2024, day 366'],
    ['Mon _2 Jan 06 3:04PM', 'Tue 31 Dec 24 11:59PM'],
    ['%D %T.%L %%', '12/31/24 23:59:58.250 %'],
  ].map(([layout = '', expected]): [JsonValue, object, unknown] => [
    '2024-12-31T23:59:58.25Z',
    { target_format: 'custom', target_format_custom: layout },
    expected,
  ]),
  [null, {}, null],
])('%j with %j is %j', (value, given, expected) => {
  expect(convert(value, given)).toBe(expected);
});

test.each<[JsonValue, object]>([
  ['yesterday', {}],
  ['2026-02-30T00:00:00Z', {}],
  ['2026-03-18T24:00:00Z', {}],
  ['2026-03-18T12:34:56Z and more', {}],
  [7, {}],
  ['1e400', { source_format: 'unix' }],
  ['9'.repeat(20), { source_format: 'unix' }],
  [{ a: 1 }, { source_format: 'unix' }],
])('%j with %j rejects the record', (value, given) => {
  expect(() => convert(value, given)).toThrow(expect.objectContaining({ code: 'not_convertible' }));
});

test.each([
  [{ source_format: 'someday' }, 'source_format'],
  [{ source_format: 'custom' }, 'source_format_custom'],
  [{ target_format: 'custom', target_format_custom: '%Q' }, 'target_format_custom'],
  [{ target_format: 'custom', target_format_custom: 'now' }, 'target_format_custom'],
  [{ source_timezone: 'Mars/Olympus' }, 'source_timezone'],
  [{ target_timezone: 'Local' }, 'target_timezone'],
])('refuses %j', async (given, name) => {
  const operations = [{ operation: 'convert_timestamp', arguments: { source_key: 't', ...given } }];
  const path = `/operations/0/arguments/${name}`;
  expect(await parseTransform({ operations })).toMatchObject({ ok: false, problems: [{ path }] });
});

test('agrees with Intl about local times in random zones', () => {
  const zones = ['Europe/London', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Pacific/Auckland', 'America/Los_Angeles'];
  for (let n = 0; n < 300; n += 1) {
    const time = new Date(Math.floor((n * 2_654_435_761) % 1_800_000_000) * 1000);
    const zone = zones[n % zones.length] ?? 'UTC';
    const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    const written = convert(time.toISOString(), { target_format: 'datetime', target_timezone: zone });
    expect(written).toBe(shown.format(time));
  }
});
