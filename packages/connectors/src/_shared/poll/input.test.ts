import { describe, expect, test } from 'vitest';
import { config, data, open, records, stream, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';

describe('streams', () => {
  const two = {
    streams: [
      { ...stream, name: 'closed', path: '/closed' },
      { ...stream, name: 'open', path: '/open' },
    ],
  };

  test('reads the other streams if access to one is denied, and reports it', async () => {
    const { driver } = await open(two, (_query, { url }) =>
      url.startsWith('/closed') ? { status: 403 } : data(...records(0, 2)),
    );
    expect(await driver.fails()).toMatchObject({ code: 'forbidden', kind: 'permanent' });
    expect(await driver.fails()).toMatchObject({ code: 'forbidden' });
    expect(driver.numbers).toEqual([0, 1]);
  });

  test('continue where they ended although their path contains a time', async () => {
    const { driver, requests } = await open(
      streamed({ path: '/search/after:{{since:rfc3339_seconds}}', query: {}, pagination: { kind: 'none' } }),
      () => data(...records(0, 2)),
    );
    await driver.poll();
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1]);
    expect(requests.map(({ url }) => decodeURIComponent(url))).toEqual([
      '/search/after:2026-03-10T11:00:00Z',
      '/search/after:2026-03-10T11:58:00Z',
    ]);
  });

  test('stops at the first stream during an outage', async () => {
    const { driver, requests } = await open(two, () => ({ status: 500 }));
    expect(await driver.fails()).toMatchObject({ kind: 'retry' });
    expect(requests).toHaveLength(1);
  });
});

test.each<[value: unknown, isAccepted: boolean]>([
  ['x', false],
  [true, false],
  ['', true],
  [false, true],
  [undefined, true],
])('a setting that is not supported may not be filled: %j', async (value, isAccepted) => {
  const opening = open({ unsupported: ['/settings/extra'] }, () => data(), { settings: { extra: value } });
  if (isAccepted) await opening;
  else await expect(opening).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent' });
});

describe('limits', () => {
  test('sends no request until a used-up quota resets', async () => {
    const rate = { remaining: 'x-left', reset: 'x-reset', reset_form: 'seconds' as const };
    const { driver, clock, requests } = await open(
      { rate, ...streamed({ pagination: { kind: 'offset', parameter: 'skip' } }) },
      (query) => ({
        ...data(
          ...records(0, 3)
            .slice(Number(query.get('skip') ?? 0))
            .slice(0, 2),
        ),
        headers: { 'x-left': '0', 'x-reset': '30' },
      }),
    );
    expect(await driver.fails()).toMatchObject({ kind: 'throttled', afterMs: 30_000 });
    expect(requests).toHaveLength(1);
    clock.ms += 30_000;
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1, 2]);
  });

  test.each([
    ['7', 7_000],
    [new Date(START + 9_000).toUTCString(), 9_000],
    [new Date(START + 9_000).toISOString(), 9_000],
    ['soon', 60_000],
  ])('Retry-After: %s', async (text, afterMs) => {
    const headers = { 'retry-after': text, date: new Date(START).toUTCString() };
    const { driver, clock } = await open({}, () => ({ status: 429, headers }));
    clock.ms += 3_600_000;
    expect(await driver.fails()).toMatchObject({ kind: 'throttled', afterMs });
  });

  test('spaces requests by the configured rate limit', async () => {
    const limited = {
      rate: { limit: '/settings/limit' },
      ...streamed({ pagination: { kind: 'offset', parameter: 'skip' } as const }),
    };
    const { driver, clock } = await open(
      limited,
      (query) =>
        data(
          ...records(0, 7)
            .slice(Number(query.get('skip') ?? 0))
            .slice(0, 2),
        ),
      {
        settings: { ...config.settings, limit: { rate: 6, unit: 'per_minute' } },
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(clock.ms - START).toBe(30_000);
  });
});
