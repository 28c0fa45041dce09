import { describe, expect, test } from 'vitest';
import type { PollDefinition, PollRate, PollResponseRule } from '@connector-frame/catalog';
import { data, FILES, open, ORIGIN, records, stream, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import type { Reply } from '../../../../../test/support/vendor.js';

const ruled = (responses: PollResponseRule[], changes: Partial<PollDefinition> = {}): Partial<PollDefinition> => ({
  responses,
  ...changes,
});

describe('what a response means', () => {
  test.each<[PollResponseRule, Reply, object]>([
    [{ status: 403, means: 'retry' }, { status: 403 }, { code: 'upstream_error', kind: 'retry' }],
    [
      { status: [400, 404], means: 'invalid_credentials' },
      { status: 404 },
      { code: 'invalid_credentials', kind: 'permanent' },
    ],
    // Slack: https://docs.slack.dev/apis/web-api/#responses
    [
      { path: '/ok', in: [false], means: 'rejected' },
      { body: { ok: false, error: 'canary' } },
      { code: 'rejected', kind: 'permanent' },
    ],
    [
      { path: '/error', in: ['invalid_auth'], means: 'invalid_credentials' },
      { body: { ok: false, error: 'invalid_auth' } },
      { code: 'invalid_credentials' },
    ],
    [
      { path: '/error', in: ['ratelimited'], means: 'throttled' },
      { body: { ok: false, error: 'ratelimited' } },
      { kind: 'throttled', afterMs: 60_000 },
    ],
    [
      { path: '/code', not: [0], means: 'retry' },
      { body: { code: '17', data: [] } },
      { code: 'upstream_error', kind: 'retry' },
    ],
    [{ header: 'x-error', means: 'forbidden' }, { body: {}, headers: { 'x-error': 'canary' } }, { code: 'forbidden' }],
    [
      {
        status: 400,
        path: '/message',
        contains: 'license',
        means: 'forbidden',
        message: 'Acme needs a license for this.',
      },
      { status: 400, body: { message: 'No LICENSE found' } },
      { code: 'forbidden', message: 'Acme needs a license for this.' },
    ],
    [{ status: 429, means: 'forbidden' }, { status: 429 }, { code: 'forbidden', kind: 'permanent' }],
  ])('%j', async (rule, reply, expected) => {
    const { driver } = await open(ruled([rule]), () => reply);
    const error = await driver.fails();
    expect(error).toMatchObject(expected);
    expect(JSON.stringify(error) + error.message).not.toContain('canary');
  });

  test.each<[string, PollResponseRule, Reply, number[]]>([
    ['no records', { status: 404, means: 'empty' }, { status: 404, body: 'not found' }, []],
    // Office 365: starting a subscription twice. https://learn.microsoft.com/office/office-365-management-api/troubleshooting-the-office-365-management-activity-api
    [
      'what is already done',
      { status: 400, path: '/error/code', in: ['AF20024'], means: 'accepted' },
      { status: 400, body: { error: { code: 'AF20024' }, data: records(0, 1) } },
      [0],
    ],
    ['codes of success', { path: '/code', not: [0], means: 'retry' }, { body: { code: 0, data: records(0, 1) } }, [0]],
  ])('accepts %s', async (_name, rule, reply, expected) => {
    const { driver } = await open(ruled([rule]), () => reply);
    await driver.poll();
    expect(driver.numbers).toEqual(expected);
  });

  test('an expired page token is not the end of the pages', async () => {
    let valid = 'x';
    const all = records(0, 6);
    const { driver } = await open(
      {
        ...streamed({
          responses: [{ status: 404, means: 'empty' }],
          pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' },
        }),
      },
      (query) => {
        const [key, at = '0'] = (query.get('c') ?? `${valid}-0`).split('-');
        if (key !== valid) return { status: 404 };
        const from = Number(at);
        return { body: { data: all.slice(from, from + 2), ...(from < 4 && { next: `${valid}-${from + 2}` }) } };
      },
    );
    await driver.poll(2);
    valid = 'y';
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(6));
  });

  test('a page number beyond the last one may not be found', async () => {
    const { driver } = await open(
      streamed({
        responses: [{ status: 404, means: 'empty' }],
        pagination: { kind: 'page', parameter: 'page', first: 1 },
      }),
      (query) => (query.get('page') === '1' ? data(...records(0, 2)) : { status: 404 }),
    );
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1]);
  });
});

describe('rate limit headers', () => {
  const date = new Date(START).toUTCString();
  test.each<[string, PollRate, Record<string, string>, number]>([
    ['milliseconds from now', { reset_form: 'milliseconds' }, { 'x-reset': '1500' }, 1_500],
    ['milliseconds since 1970', { reset_form: 'epoch_milliseconds' }, { 'x-reset': String(START + 9_000) }, 9_000],
    ['an HTTP date', { reset_form: 'date' }, { 'x-reset': new Date(START + 7_000).toUTCString() }, 7_000],
    ['RFC 3339', { reset_form: 'date' }, { 'x-reset': new Date(START + 7_000).toISOString() }, 7_000],
    [
      'the quota that is used up, of several',
      { reset_form: 'seconds', quotas: [{ remaining: 'x-left-day', reset: 'x-reset-day', reset_form: 'seconds' }] },
      { 'x-reset': '5', 'x-left-day': '3', 'x-reset-day': '900' },
      5_000,
    ],
    [
      'the longest of several',
      { reset_form: 'seconds', quotas: [{ remaining: 'x-left-day', reset: 'x-reset-day', reset_form: 'seconds' }] },
      { 'x-reset': '10', 'x-left-day': '0', 'x-reset-day': '900' },
      900_000,
    ],
  ])('waits for %s', async (_name, rate, headers, afterMs) => {
    const { driver } = await open({ rate: { remaining: 'x-left', reset: 'x-reset', ...rate } }, () => ({
      status: 429,
      headers: { date, 'x-left': '0', ...headers },
    }));
    expect(await driver.fails()).toMatchObject({ kind: 'throttled', afterMs });
  });

  test.each<[NonNullable<PollRate['retry_after']>, Reply, number]>([
    [{ header: 'x-ms-retry-after-ms', form: 'milliseconds' }, { headers: { 'x-ms-retry-after-ms': '2500' } }, 2_500],
    // Discord: https://discord.com/developers/docs/topics/rate-limits#exceeding-a-rate-limit
    [{ path: '/retry_after' }, { body: { retry_after: 1.5, global: false } }, 1_500],
    [{ path: '/gone' }, { body: {} }, 60_000],
  ])('reads the delay from %j', async (retryAfter, reply, afterMs) => {
    const { driver } = await open({ rate: { retry_after: retryAfter } }, () => ({ status: 429, ...reply }));
    expect(await driver.fails()).toMatchObject({ kind: 'throttled', afterMs });
  });
});

const download = (location: string, hosts = ['storage.example']) =>
  open(
    streamed({ download_hosts: hosts, format: 'ndjson', records: { ...stream.records, path: '' } }),
    (_query, { url }) =>
      url.startsWith('/events')
        ? { status: 302, headers: { location } }
        : {
            body: records(0, 2)
              .map((each) => `${JSON.stringify(each)}\n`)
              .join(''),
          },
  );

describe('redirects to files', () => {
  test('reads a file on a listed host without credentials', async () => {
    const { driver, requests } = await download(`${FILES}/export?signature=abc`);
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1]);
    expect(requests.map(({ url, headers }) => [url.split('?')[0], headers.authorization])).toEqual([
      ['/events', 'Bearer canary-token'],
      ['/export', undefined],
    ]);
  });

  test.each([
    `${FILES}.evil.example/x`,
    'https://notstorage.example/x',
    FILES.replace('https:', 'http:'),
    FILES.replace('//', '//user:pass@'),
    'https://127.0.0.1/x',
  ])('does not follow a redirect to %s', async (location) => {
    const { driver, requests, elsewhere } = await download(location);
    expect(await driver.fails()).toMatchObject({ code: 'redirected', kind: 'permanent' });
    expect([requests.length, elsewhere]).toEqual([1, []]);
  });

  test('follows none to another host if the definition lists no hosts', async () => {
    const { driver, requests } = await open({}, () => ({ status: 302, headers: { location: `${FILES}/x` } }));
    expect(await driver.fails()).toMatchObject({ code: 'redirected' });
    expect(requests).toHaveLength(1);
    expect(ORIGIN).not.toBe(FILES);
  });
});
