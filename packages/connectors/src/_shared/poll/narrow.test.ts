import { expect, test } from 'vitest';
import { data, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';

const narrowing = streamed({
  query: { since: '{{since:milliseconds}}', until: '{{until:milliseconds}}', limit: '{{page_size}}' },
  page_size: 3,
  pagination: { kind: 'narrow' },
});
type Item = ReturnType<typeof records>[number];

/** Returns the newest records of a time window, newest first, as a vendor without pages. */
const newest = (log: readonly Item[], query: URLSearchParams): Item[] =>
  log
    .filter(({ at }) => at >= Number(query.get('since')) && at <= Number(query.get('until')))
    .sort((a, b) => b.at - a.at || b.n - a.n)
    .slice(0, Number(query.get('limit')));

test('reads a window backwards to its beginning, each record once, with a restart in between', async () => {
  // Two records of the same time are on two pages.
  const log = records(0, 20).map((record) => ({ ...record, at: record.at - (record.n % 5 === 3 ? 100 : 0) }));
  const { driver, clock } = await open(narrowing, (query) => data(...newest(log, query)));
  await driver.poll(3);
  driver.restart();
  await driver.poll();
  expect(driver.numbers.map(Number).toSorted((a, b) => a - b)).toEqual(upTo(20));
  log.push(...records(20, 25));
  clock.ms += 60_000;
  await driver.poll();
  expect(driver.numbers.map(Number).toSorted((a, b) => a - b)).toEqual(upTo(25));
});

test('reports more records of one time than fit on a page, and delivers those it gets once', async () => {
  const log = records(0, 9).map((record) => ({ ...record, at: START - 1_000 }));
  const { driver } = await open(narrowing, (query) => data(...newest(log, query)));
  for (let round = 0; round < 2; round += 1)
    expect(await driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'retry' });
  expect(driver.numbers.map(Number).toSorted((a, b) => a - b)).toEqual([6, 7, 8]);
});

test.each([
  ['a%2Fb%2B%3D%3D', 'a/b+=='],
  ['a/b+==', 'a/b+=='],
  ['100%', '100%'],
])('sends the percent-encoded token %s as %s', async (token, sent) => {
  const { driver, requests } = await open(
    streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c', decode: 'percent' } }),
    (query) => (query.has('c') ? data() : { body: { data: records(0, 1), next: token } }),
  );
  await driver.poll();
  const [, next] = requests;
  expect(new URL(next?.url ?? '', 'https://acme.example').searchParams.get('c')).toBe(sent);
});
