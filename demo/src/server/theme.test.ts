import { expect, test } from 'vitest';
import { handleTheme, themeOf } from './theme.js';

const post = (body: Record<string, string>, headers: Record<string, string>) =>
  handleTheme(
    new Request('http://localhost:3000/demo/theme', { method: 'POST', headers, body: new URLSearchParams(body) }),
  );
const own = { 'sec-fetch-site': 'same-origin', referer: 'http://localhost:3000/html/?kind=output' };

test('stores the choice next to the earlier one and redirects to the page', async () => {
  const answer = await post({ scheme: 'dark' }, { ...own, cookie: 'a=b; northwind_theme=ink.light' });
  expect([answer?.status, answer?.headers.get('location')]).toEqual([303, 'http://localhost:3000/html/?kind=output']);
  const cookie = answer?.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(themeOf(new Request('http://localhost:3000/', { headers: { cookie } }))).toEqual({
    preset: 'ink',
    scheme: 'dark',
  });
});

test('ignores invalid values', async () => {
  const answer = await post({ scheme: 'x; Domain=evil', preset: '' }, own);
  expect(answer?.headers.getSetCookie()[0]).toMatch(/^northwind_theme=harbor\.auto; Path=\//);
});

test.each([{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, {}])(
  'rejects a form sent with %j',
  async (headers) => {
    expect((await post({ scheme: 'dark' }, headers))?.status).toBe(403);
  },
);

test('redirects to its own origin only', async () => {
  const answer = await post({ scheme: 'dark' }, { ...own, referer: 'https://evil.example/' });
  expect(answer?.headers.get('location')).toBe('http://localhost:3000/');
});
