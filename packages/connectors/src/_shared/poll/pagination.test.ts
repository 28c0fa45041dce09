import { describe, expect, test } from 'vitest';
import { data, open, ORIGIN, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import type { Reply } from '../../../../../test/support/vendor.js';

describe('pagination', () => {
  const all = records(0, 7);
  const page = (from: number) => all.slice(from, from + 2);
  const byUrl = (query: URLSearchParams): Reply => {
    const from = Number(query.get('from') ?? 0);
    return { body: { data: page(from), next: from < 6 ? `/events?from=${from + 2}&other=x` : null } };
  };

  test('by offset and by page number', async () => {
    const offset = await open(streamed({ pagination: { kind: 'offset', parameter: 'skip' } }), (query) =>
      data(...page(Number(query.get('skip') ?? 0))),
    );
    await offset.driver.poll();
    expect(offset.driver.numbers).toEqual(upTo(7));
    const paged = await open(streamed({ pagination: { kind: 'page', parameter: 'page', first: 1 } }), (query) =>
      data(...page((Number(query.get('page')) - 1) * 2)),
    );
    await paged.driver.poll();
    expect(paged.driver.numbers).toEqual(upTo(7));
  });

  test.each([
    ['<https://api.acme.example/events?from=2>; rel="next"'],
    ['<https://api.acme.example/events?x=1>; rel="prev", </events?from=2>; title="a, b"; rel="next last"'],
    ['<?from=2>; rel=next; x="y"'],
  ])('the link %s', async (link) => {
    const { driver, requests } = await open(streamed({ pagination: { kind: 'link_header' } }), (query) =>
      query.has('from') ? data(...page(2)) : { ...data(...page(0)), headers: { link } },
    );
    await driver.poll();
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer canary-token',
      'Bearer canary-token',
    ]);
    expect(driver.numbers).toEqual(upTo(4));
  });

  test('by a URL in the response, or one of its parameters', async () => {
    const followed = await open(streamed({ pagination: { kind: 'body_url', path: '/next' } }), byUrl);
    await followed.driver.poll();
    expect(followed.driver.numbers).toEqual(upTo(7));
    expect(followed.requests[1]?.url).toBe('/events?from=2&other=x');
    const taken = await open(streamed({ pagination: { kind: 'body_url', path: '/next', parameter: 'from' } }), byUrl);
    await taken.driver.poll();
    expect(taken.driver.numbers).toEqual(upTo(7));
    expect(taken.requests[1]?.url).toMatch(/^\/events\?since=[^&]+&from=2$/);
  });

  test('continues after empty pages that have a next page', async () => {
    const { driver } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => {
        const at = Number(query.get('c') ?? 0);
        return { body: { data: at % 3 === 0 ? records(at, at + 1) : [], ...(at < 9 && { next: at + 1 }) } };
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual([0, 3, 6, 9]);
  });

  test.each([
    ['itself', (at: string) => (at === '' ? 'a' : at)],
    ['one before', (at: string) => (at === 'a' ? 'b' : 'a')],
    ['ever more pages with nothing in them', (at: string) => `${Number(at) + 1}`],
  ])('stops at a page that leads to %s, without losing records', async (_name, next) => {
    const { driver, requests } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => {
        const at = query.get('c') ?? '';
        return { body: { data: at === '' || /^\d/.test(at) ? [] : [{ id: at, n: at, at: START }], next: next(at) } };
      },
    );
    expect(await driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'retry' });
    expect(await driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'retry' });
    expect(new Set(driver.delivered.map(({ n }) => n)).size).toBe(driver.delivered.length);
    expect(requests.length).toBeLessThan(650);
  });

  test('gets on over more empty pages than it reads in one poll', async () => {
    const { driver } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => {
        const at = Number(query.get('c') ?? 0);
        return { body: { data: at === 700 ? records(0, 1) : [], ...(at < 700 && { next: at + 1 }) } };
      },
    );
    for (let round = 0; round < 2; round += 1) expect(await driver.fails()).toMatchObject({ kind: 'retry' });
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual([0]);
  });

  test('restarts the time window without duplicates if the page token has expired', async () => {
    let valid = 'x';
    const { driver } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => {
        const [key, at = '0'] = (query.get('c') ?? `${valid}-0`).split('-');
        if (key !== valid) return { status: 400, body: { error: 'expired' } };
        return { body: { data: page(Number(at)), ...(Number(at) < 6 && { next: `${valid}-${Number(at) + 2}` }) } };
      },
    );
    await driver.poll(2);
    valid = 'y';
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
  });

  test('reports a vendor that rejects its own page tokens instead of looping', async () => {
    const { driver, requests } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => (query.has('c') ? { status: 400 } : { body: { data: page(0), next: 'x' } }),
    );
    expect(await driver.fails()).toMatchObject({ code: 'rejected', kind: 'permanent' });
    expect(await driver.fails()).toMatchObject({ code: 'rejected', kind: 'permanent' });
    expect(requests.length).toBeLessThan(8);
    expect(driver.numbers).toEqual([0, 1]);
  });

  test('does not follow a stored link of another configuration', async () => {
    const linked = streamed({
      pagination: { kind: 'link_header' },
      cursor: { kind: 'link', overlap_seconds: 60 },
      path: '/{{/settings/team}}/events',
    });
    const given = { settings: { team: 'red' } };
    const { driver, requests } = await open(
      linked,
      (query) => ({
        ...data(...(query.has('after') ? [] : page(0))),
        headers: { link: `<${ORIGIN}/red/events?after=1>; rel="next"` },
      }),
      given,
    );
    await driver.poll();
    given.settings = { team: 'blue' };
    driver.restart();
    await driver.poll(1);
    expect(requests.at(-1)?.url).toMatch(/^\/blue\/events\?since=/);
  });
});
