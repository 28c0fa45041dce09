import { describe, expect, test } from 'vitest';
import type { PollDefinition, PollPagination } from '@connector-frame/catalog';
import { open, ORIGIN, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import type { Reply } from '../../../../../test/support/vendor.js';
import { escapePlus } from './next-link.js';

/** Pages as vendors document them: each case names one. */
const all = records(0, 7);

const read = async (
  pagination: PollPagination,
  respond: (query: URLSearchParams, url: string) => Reply,
  definition: Partial<PollDefinition> = {},
) => {
  const { driver, requests } = await open({ ...definition, ...streamed({ pagination }) }, (query, { url }) =>
    respond(query, url),
  );
  await driver.poll();
  return { numbers: driver.numbers, urls: requests.map(({ url }) => url) };
};

const slice = (from: number, size = 2) => all.slice(from, from + size);

describe('the next page', () => {
  test('by a token in a response header', async () => {
    const { numbers } = await read({ kind: 'header_cursor', header: 'X-Next', parameter: 'from' }, (query) => {
      const from = Number(query.get('from') ?? 0);
      return { body: { data: slice(from) }, headers: from < 6 ? { 'x-next': String(from + 2) } : {} };
    });
    expect(numbers).toEqual(upTo(7));
  });

  test('by a link in a response header, in any letter case', async () => {
    const { numbers, urls } = await read({ kind: 'header_url', header: 'next' }, (query) => {
      const from = Number(query.get('from') ?? 0);
      return {
        body: { data: slice(from) },
        headers: from < 6 ? { Next: `HTTPS://API.Acme.Example/events?from=${from + 2}` } : {},
      };
    });
    expect(numbers).toEqual(upTo(7));
    expect(urls[1]).toBe('/events?from=2');
  });

  test('by tokens in the body that are sent as headers, and resumed with them', async () => {
    const { driver, requests } = await open(
      streamed({ pagination: { kind: 'body_headers', headers: { 'x-after': '/after', 'x-scroll': '/scroll' } } }),
      (_query, { headers }) => {
        const from = Number(headers['x-after'] ?? 0);
        if (from > 0 && headers['x-scroll'] !== 's1') return { status: 422 };
        return { body: { data: slice(from), after: from < 6 ? from + 2 : null, scroll: 's1' } };
      },
    );
    await driver.poll(2);
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests.map(({ headers }) => headers['x-after'])).toEqual([undefined, '2', '4', '6']);
  });

  // Elasticsearch's `search_after` takes the `sort` values of the last hit.
  test.each<[where: string, pagination: PollPagination]>([
    ['of the last record', { kind: 'last_record', path: '/sort', parameter: '/search_after', json: true }],
    ['of the response', { kind: 'body_cursor', path: '/after', parameter: '/search_after', json: true }],
  ])('by a list %s, which goes back into the body as it is', async (_where, pagination) => {
    const { driver, requests } = await open(
      streamed({ pagination, query: {}, body: { since: '{{since}}', sort: ['at', 'id'] } }),
      (_query, { body }) => {
        const { search_after: after } = JSON.parse(body);
        const page = slice(after === undefined ? 0 : Number(after[1].slice(1)) + 1).map((record) => ({
          ...record,
          sort: [record.at, record.id],
        }));
        return { body: { data: page, after: page.length < 2 ? [] : page.at(-1)?.sort } };
      },
    );
    await driver.poll(2);
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(JSON.parse(requests[1]?.body ?? '').search_after).toEqual([all[1]?.at, 'i1']);
  });

  // The last line of Akamai's SIEM API is `{"total":2,"offset":"...","limit":2}`.
  test.each(['first', 'last'] as const)('by a token in the %s line', async (line) => {
    const { driver, requests } = await open(
      streamed({
        format: 'ndjson',
        page_line: line,
        records: { path: '/records', id: '/id', time: '/at', time_form: 'milliseconds' },
        pagination: { kind: 'body_cursor', path: '/page/offset', parameter: 'offset' },
        cursor: { kind: 'link', overlap_seconds: 60 },
      }),
      (query) => {
        const from = Number(query.get('offset') ?? 0);
        const page = slice(from);
        const state = { total: page.length, offset: String(from + page.length), limit: 2 };
        const lines = line === 'first' ? [state, ...page] : [...page, state];
        return { body: lines.map((each) => JSON.stringify(each)).join('\n') };
      },
    );
    await driver.poll();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests.at(-1)?.url).toContain('offset=7');
  });

  // As Netskope's iterators, which a time moves.
  test('by the same request, until a page is empty, and from the beginning after a stop', async () => {
    let at = 0;
    const { driver, requests } = await open(
      streamed({
        query: { operation: '{{since:milliseconds}}' },
        next: { path: '/events', query: { operation: 'next' } },
        pagination: { kind: 'repeat', ends: 'empty_page' },
        cursor: { kind: 'time', start: '/settings/start', overlap_seconds: 60, resume: 'again' },
      }),
      (query) => {
        const operation = query.get('operation');
        if (operation !== 'next') at = all.findIndex((record) => record.at >= Number(operation));
        const page = slice(at, at === 2 ? 1 : 2);
        at += page.length;
        return { body: { data: page } };
      },
    );
    await driver.poll(2);
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('operation')).slice(2)).toEqual([
      expect.stringMatching(/^\d+$/),
      ...Array.from({ length: 4 }, () => 'next'),
    ]);
  });

  test.each([
    ['a path', undefined, '/v2/events?from=2', '/v2/events?from=2'],
    ['a path after the base URL', 'base_url', '/events?from=2', '/v2/events?from=2'],
    ['a path after the base URL, without a slash', 'base_url', 'events?from=2', '/v2/events?from=2'],
    ['relative to the request', undefined, 'more?from=2', '/v2/more?from=2'],
    ['a query', undefined, '?from=2', '/v2/events?from=2'],
  ] as const)('by a link that is %s', async (_name, relative_to, next, url) => {
    const { urls, numbers } = await read(
      { kind: 'body_url', path: '/next', ...(relative_to && { relative_to }) },
      (query) => ({ body: query.has('from') ? { data: slice(2) } : { data: slice(0), next } }),
      { base_url: `${ORIGIN}/v2` },
    );
    expect(numbers).toEqual(upTo(4));
    expect(urls[1]).toBe(url);
  });

  test('by a parameter of a link in another letter case', async () => {
    const { numbers } = await read({ kind: 'body_url', path: '/next', parameter: 'from' }, (query) => {
      const from = Number(query.get('from') ?? 0);
      return { body: { data: slice(from), ...(from < 6 && { next: `/events?From=${from + 2}` }) } };
    });
    expect(numbers).toEqual(upTo(7));
  });

  test.each([undefined, 'cursor'])('by a link with an unescaped "+" (parameter: %s)', async (parameter) => {
    const { numbers } = await read({ kind: 'body_url', path: '/next', ...(parameter && { parameter }) }, (query) => {
      const cursor = query.get('cursor');
      if (cursor === null) return { body: { data: slice(0), next: '/events?cursor=YWJj+' } };
      return cursor === 'YWJj+' ? { body: { data: slice(2) } } : { status: 400 };
    });
    expect(numbers).toEqual(upTo(4));
  });

  test.each([false, 'false', 'False', 0, '0'])('is not read beside has_more: %j', async (more) => {
    const { urls } = await read({ kind: 'body_cursor', path: '/next', parameter: 'c', more: '/has_more' }, () => ({
      body: { data: slice(0), next: 'x', has_more: more },
    }));
    expect(urls).toHaveLength(1);
  });

  // https://docs.stripe.com/api/pagination
  test('by the id of the last record', async () => {
    const pagination = { kind: 'last_record', path: '/id', parameter: 'starting_after', more: '/has_more' } as const;
    for (const yes of [true, 'true', 1]) {
      const { numbers, urls } = await read(pagination, (query) => {
        const after = query.get('starting_after');
        const from = after === null ? 0 : Number(after.slice(1)) + 1;
        // A short page that is not the last.
        const size = from === 2 ? 1 : 2;
        return { body: { data: slice(from, size), has_more: from + size < 7 ? yes : false } };
      });
      expect(numbers).toEqual(upTo(7));
      expect(urls[1]).toMatch(/starting_after=i1$/);
    }
  });

  test('by the time of the last record, which is returned again', async () => {
    const { numbers } = await read({ kind: 'last_record', path: '/at', parameter: 'from' }, (query) => {
      const from = Number(query.get('from') ?? 0);
      return { body: { data: all.filter(({ at }) => at >= from).slice(0, 2) } };
    });
    expect(numbers).toEqual(upTo(7));
  });

  test.each([7, '7'])('by offset until the total of %j, with a short page in between', async (total) => {
    const { numbers, urls } = await read({ kind: 'offset', parameter: 'skip', total: '/total' }, (query) => {
      const from = Number(query.get('skip') ?? 0);
      return { body: { data: slice(from, from === 2 ? 1 : 2), total } };
    });
    expect(numbers).toEqual(upTo(7));
    expect(urls).toHaveLength(4);
  });

  // SCIM (RFC 7644, 3.4.2.4) counts from 1.
  test('by an offset that is counted from 1', async () => {
    const { numbers, urls } = await read(
      { kind: 'offset', parameter: 'startIndex', first: 1, total: '/totalResults' },
      (query) => ({ body: { data: slice(Number(query.get('startIndex')) - 1), totalResults: 7 } }),
    );
    expect(numbers).toEqual(upTo(7));
    expect(urls).toHaveLength(4);
    expect(urls[0]).toMatch(/startIndex=1$/);
  });

  test('by an offset of whole pages, of which some records are left out', async () => {
    const { numbers } = await read({ kind: 'offset', parameter: 'skip', step: 'page_size', more: '/more' }, (query) => {
      const from = Number(query.get('skip') ?? 0);
      return { body: { data: slice(from).filter(({ n }) => n !== 2 && n !== 3), more: from < 6 } };
    });
    expect(numbers).toEqual([0, 1, 4, 5, 6]);
  });

  test.each([0, 1] as const)('by page number from %i until the number of pages', async (first) => {
    const { numbers, urls } = await read({ kind: 'page', parameter: 'page', first, total_pages: '/pages' }, (query) => {
      const from = (Number(query.get('page')) - first) * 2;
      return { body: { data: slice(from, from === 2 ? 1 : 2), pages: '4' } };
    });
    expect(numbers).toEqual([0, 1, 2, 4, 5, 6]);
    expect(urls).toHaveLength(4);
  });

  test('by page number until a page is empty', async () => {
    const { numbers } = await read({ kind: 'page', parameter: 'page', first: 1, ends: 'empty_page' }, (query) => {
      const from = (Number(query.get('page')) - 1) * 2;
      return { body: { data: slice(from, from === 0 ? 1 : 2) } };
    });
    expect(numbers).toEqual([0, 2, 3, 4, 5, 6]);
  });
});

test.each([
  ['/a?x=YWJj+', '/a?x=YWJj%2B'],
  ['/a?x=YWJj++&y=a+b', '/a?x=YWJj%2B%2B&y=a+b'],
  ['/a?t=2026-01-01T00:00:00+02:00&x=1', '/a?t=2026-01-01T00:00:00%2B02:00&x=1'],
  ['/a?t=2026-01-01T00%3A00%3A00.5+0200', '/a?t=2026-01-01T00%3A00%3A00.5%2B0200'],
  ['/a+b', '/a+b'],
])('escapes the plus of %s', (link, escaped) => {
  expect(escapePlus(link)).toBe(escaped);
});
