import { expect, test } from 'vitest';
import { isDue } from './schedule.js';

const at = (text: string): number => Date.parse(`2026-${text}:00Z`);

test.each([
  ['0 * * * *', '03-10T12:00', '03-10T12:59', false],
  ['0 * * * *', '03-10T12:00', '03-10T13:00', true],
  ['0 * * * *', '03-10T11:59', '03-10T12:00', true],
  ['*/15 * * * *', '03-10T12:01', '03-10T12:14', false],
  ['*/15 * * * *', '03-10T12:01', '03-10T12:15', true],
  ['5/20 * * * *', '03-10T12:06', '03-10T12:24', false],
  ['5/20 * * * *', '03-10T12:06', '03-10T12:25', true],
  ['30 2 * * *', '03-10T02:30', '03-11T02:29', false],
  ['30 2 * * *', '03-10T02:30', '03-11T02:30', true],
  ['0 9-17/4,20 * * *', '03-10T17:01', '03-10T19:59', false],
  ['0 9-17/4,20 * * *', '03-10T17:01', '03-10T20:00', true],
  ['0 0 1 jan *', '03-10T00:00', '12-31T23:59', false],
  // March 10, 2026 is a Tuesday.
  ['0 0 * * MON-fri', '03-13T00:01', '03-15T23:59', false],
  ['0 0 * * mon-fri', '03-13T00:01', '03-16T00:00', true],
  ['0 0 * * 7', '03-10T00:00', '03-15T00:00', true],
  ['0 0 * * 0', '03-10T00:00', '03-14T23:59', false],
  // If day and weekday are both restricted, one match is enough.
  ['0 0 20 * wed', '03-10T00:00', '03-11T00:00', true],
  ['0 0 20 * wed', '03-19T00:01', '03-20T00:00', true],
  ['0 0 30 2 *', '01-01T00:00', '12-31T00:00', false],
])('%s after %s, at %s: %s', (schedule, last, now, due) => {
  expect(isDue(schedule, at(last), at(now))).toBe(due);
});
