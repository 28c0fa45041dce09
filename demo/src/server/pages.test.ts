import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPages } from './pages.js';

let folder: string;
let pages: Awaited<ReturnType<typeof createPages>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pages-'));
  await mkdir(join(folder, 'public/html'), { recursive: true });
  await mkdir(join(folder, 'public/assets'));
  await writeFile(join(folder, 'public/html/index.html'), '<!doctype html>');
  await writeFile(join(folder, 'public/assets/html-1.js'), 'export {};');
  await writeFile(join(folder, 'public/assets/notes.txt'), 'no page');
  await writeFile(join(folder, 'secret.json'), '{}');
  pages = await createPages(join(folder, 'public'), { form: 'http://localhost:4000', icons: 'http://localhost:4000' });
});
afterAll(() => rm(folder, { recursive: true }));

const get = (path: string, method = 'GET') => pages(new Request(`http://localhost:3000${path}`, { method }));

test('a page comes with a policy that lets the form in and nothing else', async () => {
  const answer = get('/html/?kind=output');
  expect(await answer?.text()).toBe('<!doctype html>');
  expect(answer?.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer?.headers.get('cache-control')).toBe('no-cache');
  const policy = answer?.headers.get('content-security-policy')?.split('; ');
  expect(policy).toContain('frame-src http://localhost:4000');
  expect(policy).toContain("style-src 'self'");
  expect(policy).toContain("default-src 'none'");
});

test('an asset may be kept for ever, as its name changes with it', () => {
  const answer = get('/assets/html-1.js');
  expect(answer?.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(answer?.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

test.each([
  ['/', '/html/'],
  ['/html', '/html/'],
])('%s leads to %s', (from, to) => {
  const answer = get(from);
  expect([answer?.status, answer?.headers.get('location')]).toEqual([302, to]);
});

test.each(['/react/', '/assets/', '/assets/notes.txt', '/%2e%2e/secret.json', '/..%2fsecret.json', '/secret.json'])(
  '%s is no page',
  (path) => {
    expect(get(path)).toBeUndefined();
  },
);

test('pages are only read', () => {
  expect(get('/html/', 'POST')).toBeUndefined();
});
