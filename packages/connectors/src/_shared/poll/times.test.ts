import { describe, expect, onTestFinished, test } from 'vitest';
import { START } from '../../../../../test/support/poll-driver.js';
import { formatTime, parseTime } from './times.js';

// Expected values are from Python's `datetime` and `zoneinfo`.
const AT = START + 250;

test.each([
  ['rfc3339', '2026-03-10T12:00:00.250Z', '2026-03-10T12:00:00.250Z'],
  ['rfc3339_seconds', '2026-03-10T12:00:00Z', '2026-03-10T12:00:01Z'],
  ['rfc3339_offset', '2026-03-10T12:00:00+00:00', '2026-03-10T12:00:01+00:00'],
  ['http', 'Tue, 10 Mar 2026 12:00:00 GMT', 'Tue, 10 Mar 2026 12:00:01 GMT'],
  ['date', '2026-03-10', '2026-03-10'],
  ['seconds', '1773144000', '1773144001'],
  ['milliseconds', '1773144000250', '1773144000250'],
  ['microseconds', '1773144000250000', '1773144000250000'],
  ['nanoseconds', '1773144000250000000', '1773144000250000000'],
  ['ticks@1601-01-01', '134176176002500000', '134176176002500000'],
  ['ticks@0001-01-01', '639087408002500000', '639087408002500000'],
  ['seconds@2001-01-01', '794836800', '794836801'],
  ['%Y%m%d%H%M%S', '20260310120000', '20260310120001'],
  ['%Y-%m-%d %H:%M', '2026-03-10 12:00', '2026-03-10 12:01'],
  ['%Y-%m-%dT%H:%M:%S.%LZ', '2026-03-10T12:00:00.250Z', '2026-03-10T12:00:00.250Z'],
  ['%Y-%m-%dT%H:%M:%S.%f%z', '2026-03-10T12:00:00.250000+0000', '2026-03-10T12:00:00.250000+0000'],
  ['%d/%b/%Y:%H:%M:%S %:z', '10/Mar/2026:12:00:00 +00:00', '10/Mar/2026:12:00:01 +00:00'],
  ['%m/%d/%y %I:%M:%S %p', '03/10/26 12:00:00 PM', '03/10/26 12:00:01 PM'],
])('formats %s, rounding down and up', (form, down, up) => {
  expect(formatTime(AT, form)).toBe(down);
  expect(formatTime(AT, form, { up: true })).toBe(up);
});

// `email.utils.parsedate_to_datetime` of Python.
test.each([
  ['Tue, 10 Mar 2026 12:00:00 GMT', START],
  ['Tue, 10 Mar 2026 12:00:00 +0000', START],
  ['Tue, 10 Mar 2026 14:00:00 +0200', START],
  ['10 Mar 2026 07:00:00 EST', START],
  ['Tue, 10 Mar 26 12:00 GMT', START],
])('parses %s of a feed', (text, expected) => {
  expect(parseTime(text, 'http')).toBe(expected);
  expect(parseTime(text)).toBe(expected);
});

test('formats relative times so that the window does not shrink', () => {
  const now = START + 90 * 60_000;
  expect(formatTime(START, 'minutes_ago', { now })).toBe('90');
  expect(formatTime(START, 'hours_ago', { now })).toBe('2');
  expect(formatTime(START, 'hours_ago', { now, up: true })).toBe('1');
  expect(formatTime(now + 5_000, 'seconds_ago', { now })).toBe('0');
});

test.each([
  ['America/New_York', '2026-03-10 08:00:00'],
  ['Asia/Kolkata', '2026-03-10 17:30:00'],
  ['Europe/Berlin', '2026-03-10 13:00:00'],
])('formats and parses local times of %s', (zone, text) => {
  expect(formatTime(START, '%Y-%m-%d %H:%M:%S', { zone })).toBe(text);
  expect(parseTime(text, '%Y-%m-%d %H:%M:%S', zone)).toBe(START);
  expect(parseTime(text, 'rfc3339', zone)).toBe(START);
  expect(parseTime(text.replace(' ', 'T'), undefined, zone)).toBe(START);
});

describe('parsing', () => {
  test.each([
    ['2026-03-10T12:00:00Z', undefined, 0],
    ['2026-03-10T12:00:00.250123456Z', undefined, 250],
    ['2026-03-10T14:00:00+02:00', undefined, 0],
    ['2026-03-10T12:00:00', undefined, 0],
    ['2026-03-10 12:00:00.5', undefined, 500],
    ['2026-03-10T12:00', undefined, 0],
    ['2026-03-10 12:00:00,250', undefined, 250],
    ['2026-03-10T14:00:00+0200', undefined, 0],
    ['2026-03-10 14:00:00+02', undefined, 0],
    ['Tue, 10 Mar 2026 12:00:00 GMT', undefined, 0],
    ['2026/03/10 12:00:00', undefined, 0],
    ['03/10/2026 12:00:00 PM', undefined, 0],
    ['Mar 10 2026', undefined, -12 * 3_600_000],
    [1_773_144_000.25, 'seconds', 250],
    ['1773144000', 'seconds', 0],
    ['1773144000250000000', 'nanoseconds', 250],
    [1_773_144_000_250_000, 'microseconds', 250],
    ['134176176002500000', 'ticks@1601-01-01', 250],
    ['20260310120000', '%Y%m%d%H%M%S', 0],
    [20_260_310, '%Y%m%d', -12 * 3_600_000],
    ['10/Mar/2026:14:00:00 +0200', '%d/%b/%Y:%H:%M:%S %z', 0],
    ['3/10/2026 12:00:00 pm', '%m/%d/%Y %I:%M:%S %p', 0],
    ['3/10/2026 12:00:00 AM', '%m/%d/%Y %I:%M:%S %p', -12 * 3_600_000],
    ['2026-03-10 12:00:00.123456', '%Y-%m-%d %H:%M:%S.%f', 123],
  ])('reads %j as %s', (value, form, after) => {
    expect(parseTime(value, form)).toBe(START + after);
  });

  test.each([
    ['soon', undefined],
    ['', 'seconds'],
    [null, 'seconds'],
    ['2026-02-31', '%Y-%m-%d'],
    ['2026-13-01', '%Y-%m-%d'],
    ['2026-03-10', '%Y-%m-%d %H:%M:%S'],
    [{}, '%Y'],
    ['9'.repeat(40), 'seconds'],
    ['0001-01-01T00:00:00', undefined],
  ])('does not read %j', (value, form) => {
    expect(parseTime(value, form)).toBeUndefined();
  });

  // A process in another zone must not shift the window.
  test('does not depend on the zone of the process', () => {
    const before = process.env['TZ'];
    onTestFinished(() => {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    });
    process.env['TZ'] = 'Asia/Tokyo';
    expect(new Date(START).getHours()).toBe(21);
    for (const text of ['2026-03-10T12:00:00', '2026-03-10 12:00:00', '2026/03/10 12:00:00', 'Mar 10 2026 12:00:00'])
      expect(parseTime(text)).toBe(START);
    expect(formatTime(START, '%Y-%m-%d %H:%M:%S')).toBe('2026-03-10 12:00:00');
  });

  test('takes the first of an hour that occurs twice, and some time in an hour that does not occur', () => {
    expect(parseTime('2026-10-25 02:30:00', 'rfc3339', 'Europe/Berlin')).toBe(Date.UTC(2026, 9, 25, 0, 30));
    expect(parseTime('2026-03-29 02:30:00', 'rfc3339', 'Europe/Berlin')).toBe(Date.UTC(2026, 2, 29, 0, 30));
  });
});
