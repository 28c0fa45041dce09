import { expect, test } from 'vitest';
import type { PollStart } from '@connector-frame/catalog';
import { data, open, streamed } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';

const HOUR = 3_600_000;
const starting = (start: PollStart) => streamed({ cursor: { kind: 'time', start, overlap_seconds: 60 } });

test.each<[string, PollStart, unknown, number]>([
  ['hours', { ago: '/settings/back', unit: 'hours' }, 6, 6 * HOUR],
  ['days as text', { ago: '/settings/back', unit: 'days' }, '7', 168 * HOUR],
  ['a length of time', { ago: '/settings/back' }, '24h', 24 * HOUR],
  ['a length of time in parts', { ago: '/settings/back' }, ' 1h30m ', 1.5 * HOUR],
  ['a length of time, whatever the unit of a number', { ago: '/settings/back', unit: 'hours' }, '2d', 48 * HOUR],
])('starts before now by %s', async (_name, start, back, expected) => {
  const { driver, requests } = await open(starting(start), () => data(), { settings: { back } });
  await driver.poll();
  expect(requests.map(({ url }) => url)).toEqual([
    `/events?since=${encodeURIComponent(new Date(START - expected).toISOString())}`,
  ]);
});

test.each([
  ['without a zone, in UTC', '2026-01-01 00:00:00.0', '2026-01-01T00:00:00.000Z'],
  ['with a zone', '2026-01-01T00:00:00+01:00', '2025-12-31T23:00:00.000Z'],
  ['as seconds since 1970', '1767225600', '2026-01-01T00:00:00.000Z'],
])('starts at a time %s', async (_name, back, expected) => {
  const { driver, requests } = await open(starting('/settings/back'), () => data(), { settings: { back } });
  await driver.poll();
  expect(requests[0]?.url).toContain(encodeURIComponent(expected));
});

test('starts before the time of the vendor when our clock is wrong', async () => {
  const start: PollStart = { ago: '/settings/back', unit: 'hours' };
  const back = { settings: { back: 6 } };
  const { driver, clock, requests } = await open(
    starting(start),
    () => ({ ...data(), headers: { date: new Date(START).toUTCString() } }),
    back,
  );
  clock.ms += 30 * 24 * HOUR;
  await driver.poll();
  expect(requests.at(-1)?.url).toContain(encodeURIComponent(new Date(START - 6 * HOUR).toISOString()));
});

test('starts now if the setting is empty, and rejects a text that is no length of time', async () => {
  const start: PollStart = { ago: '/settings/back' };
  const { driver, requests } = await open(starting(start), () => data(), { settings: {} });
  await driver.poll();
  expect(requests[0]?.url).toContain(encodeURIComponent(new Date(START - 60_000).toISOString()));
  const wrong = await open(starting(start), () => data(), { settings: { back: 'a while' } });
  expect(await wrong.driver.fails()).toMatchObject({ code: 'invalid_config', kind: 'permanent' });
});
