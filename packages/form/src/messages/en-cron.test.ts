import { expect, test } from 'vitest';
import { cronSentence } from './en-cron.js';

test.each([
  ['* * * * *', 'Every minute (UTC)'],
  ['*/15 * * * *', 'Every 15 minutes (UTC)'],
  ['0 * * * *', 'Every hour (UTC)'],
  ['5,35 * * * *', 'Every hour, at minute 5 and 35 (UTC)'],
  ['30 6 * * *', 'At 06:30 every day (UTC)'],
  ['30 6 * * 1-5', 'At 06:30, Monday to Friday (UTC)'],
  ['0 6 * * 7', 'At 06:00 on Sunday (UTC)'],
  ['0 0 1 * *', 'At 00:00 on day 1 of the month (UTC)'],
  ['10 */4 * * *', 'Every 4 hours, at minute 10 (UTC)'],
  ['*/10 9-17 * * mon-fri', 'Every 10 minutes from 09:00 to 17:59, Monday to Friday (UTC)'],
  ['0 6,18 * * *', 'At 06:00 and 18:00 every day (UTC)'],
  ['15 3 1,15 jan-jun *', 'At 03:15 on day 1 and 15 of the month, January to June (UTC)'],
  ['0 0 1 * 1', 'At 00:00 on day 1 of the month and on Monday (UTC)'],
  ['0 0 */2 * *', 'At 00:00 every 2 days (UTC)'],
  ['0 0 31 12 *', 'At 00:00 on day 31 of the month in December (UTC)'],
  ['0 0 * * 0-6', 'At 00:00 every day (UTC)'],
])('%s reads: %s', (expression, sentence) => {
  expect(cronSentence(expression)).toBe(sentence);
});

test.each([
  '',
  'x',
  '0 6 * *',
  '60 * * * *',
  '0 0 0 * *',
  '0 0 * 13 *',
  '*/0 * * * *',
  '5-1 * * * *',
  '0 0 * * 8',
  '1.5 * * * *',
])('says nothing of %o, which is no cron expression', (expression) => {
  expect(cronSentence(expression)).toBeUndefined();
});
