import { expect, test } from 'vitest';
import { data, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import { numberOf, secondsOf } from './setting-number.js';

const field = '/settings/n';

test.each([
  ['a number', 7, 7],
  ['digits', '8', 8],
  ['the least', 1, 5],
  ['the most', 900, 10],
  ['the default', '', 6],
])('a number from a setting is %s', (_name, n, expected) => {
  expect(numberOf({ field, default: 6, minimum: 5, maximum: 10 }, { settings: { n } })).toBe(expected);
});

test.each([
  [2, 7_200],
  ['3', 10_800],
  ['5m', 300],
  [undefined, 60],
])('%j is %i seconds', (n, expected) => {
  expect(secondsOf({ field, unit: 'hours', default: 60 }, { settings: { n } })).toBe(expected);
});

test('requests pages of the size of a setting', async () => {
  const log = records(0, 7);
  const { driver, requests } = await open(
    streamed({
      query: { since: '{{since}}', limit: '{{page_size}}' },
      page_size: { field, default: 2, maximum: 3 },
      pagination: { kind: 'offset', parameter: 'skip' },
    }),
    (query) => {
      const from = Number(query.get('skip'));
      return data(...log.slice(from, from + Number(query.get('limit'))));
    },
    { settings: { n: '30', start: '2026-03-10T11:00:00Z' } },
  );
  await driver.poll();
  expect(driver.numbers).toEqual(upTo(7));
  expect(requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('limit'))).toEqual(['3', '3', '3']);
});

test('requests windows of the length of a setting', async () => {
  const { driver, requests } = await open(
    streamed({
      query: { since: '{{since:seconds}}', until: '{{until:seconds}}' },
      cursor: {
        kind: 'time',
        start: '/settings/start',
        overlap_seconds: 60,
        longest_seconds: { field, unit: 'minutes', default: 60, minimum: 120 },
      },
    }),
    () => data(),
    { settings: { n: 30, start: '2026-03-10T11:00:00Z' } },
  );
  await driver.poll();
  const [first] = requests.map(({ url }) => new URL(url, 'http://x').searchParams);
  expect([first?.get('since'), first?.get('until')]).toEqual([
    String(START / 1_000 - 3_600),
    String(START / 1_000 - 1_800),
  ]);
});

test('limits requests to the number of a setting', async () => {
  const log = records(0, 6);
  const { driver, clock } = await open(
    {
      ...streamed({ pagination: { kind: 'offset', parameter: 'skip' } }),
      rate: { limit: { field, per: 'minute' } },
    },
    (query) => data(...log.slice(Number(query.get('skip')), Number(query.get('skip')) + 2)),
    { settings: { n: 60, start: '2026-03-10T11:00:00Z' } },
  );
  await driver.poll();
  expect(clock.ms).toBe(START + 3_000);
});

test('rejects a text that is no number', () => {
  expect(() => numberOf({ field, default: 6 }, { settings: { n: 'many' } })).toThrow('Enter a number.');
});
