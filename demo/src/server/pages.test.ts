import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPages } from './pages.js';
import type { PageParts } from './render-page.js';

const service = 'http://localhost:4000';
const document = '<!doctype html><html data-theme="{{theme}}"><title>{{title}}</title><body>{{body}}</body>';
const embed = '<connector-frame\n  type-id="{{type-id}}"\n  existing-id="{{existing-id}}"\n></connector-frame>';

const acme = { id: 'acme', name: 'Acme & Co', organizationId: 'org-acme' };
const type = { type_id: 'okta', name: 'Okta <b>', description: 'Logs', category: 'Identity', icon: null };
const connector = { id: 'con-12345678', type_id: 'okta', name: '<img src=x>', description: '' };
let failing = false;

const parts: PageParts = {
  serviceUrl: service,
  tenants: [acme],
  tenantOf: (request) => (request.headers.get('cookie')?.includes('signed-in') ? acme : undefined),
  host(request) {
    const { pathname } = new URL(request.url);
    if (failing) return Promise.resolve(Response.json({ code: 'x', message: 'The service is down.' }, { status: 502 }));
    return Promise.resolve(Response.json(pathname === '/api/catalog' ? [type] : [connector]));
  },
};

let folder: string;
let pages: Awaited<ReturnType<typeof createPages>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pages-'));
  for (const path of ['html', 'react', 'other', 'assets'])
    await mkdir(join(folder, 'public', path), { recursive: true });
  for (const path of ['html', 'react', 'other']) await writeFile(join(folder, `public/${path}/index.html`), document);
  await writeFile(
    join(folder, 'public/sources.json'),
    JSON.stringify({ html: [{ name: 'connector.html', code: embed }], react: [{ name: 'a.tsx', code: 'let a;' }] }),
  );
  await writeFile(join(folder, 'public/assets/html-1.js'), 'export {};');
  await writeFile(join(folder, 'public/assets/notes.txt'), 'no page');
  await writeFile(join(folder, 'secret.json'), '{}');
  pages = await createPages(join(folder, 'public'), parts);
});
afterAll(() => rm(folder, { recursive: true }));

const get = (path: string, method = 'GET', cookie = 'signed-in') =>
  pages(new Request(`http://localhost:3000${path}`, { method, headers: { cookie } }));
const read = async (path: string, cookie?: string) => (await (await get(path, 'GET', cookie))?.text()) ?? '';

test('sends a page with a content security policy that allows only the page, the form and the drop-in', async () => {
  const answer = await get('/html/?kind=output');
  expect(answer?.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer?.headers.get('cache-control')).toBe('no-store');
  const policy = answer?.headers.get('content-security-policy')?.split('; ');
  expect(policy).toContain(`frame-src ${service}`);
  expect(policy).toContain(`script-src 'self' ${service}`);
  expect(policy).toContain("style-src 'self'");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("default-src 'none'");
});

test('shows the sign-in and no connectors without a session', async () => {
  const page = await read('/html/?type=okta', '');
  expect(page).toContain('Continue as Acme &#38; Co');
  expect(page).not.toContain('<connector-frame');
  expect(page).not.toContain('con-1234');
});

test('escapes names and query parameters', async () => {
  const page = await read(`/html/?q=${encodeURIComponent('"><script>')}&category=${encodeURIComponent('<i>')}`);
  expect(page).toContain('&#60;img src=x&#62;');
  expect(page).not.toMatch(/<img src=x|<script|<i>/);
});

test('shows the source of the embed that it sends', async () => {
  const page = await read(`/html/?type=${encodeURIComponent('a"><script>')}`);
  expect(page).toContain('<connector-frame\n  type-id="a&#34;&#62;&#60;script&#62;"\n></connector-frame>');
  const shown = /<pre[^>]*>(.*?)<\/pre>/s.exec(page)?.[1]?.replace(/<[^>]+>/g, '') ?? '';
  expect(shown).toContain('type-id=&#34;a&#38;#34;');
  expect(shown).not.toContain('existing-id');
  expect(await read('/html/?type=okta&id=con-1')).toContain('existing-id="con-1"');
});

test('reports in both lists that the service is down, with a retry link', async () => {
  failing = true;
  const page = await read('/html/?kind=output');
  failing = false;
  expect(page.match(/The service is down\./g)).toHaveLength(2);
  expect(page).toContain('href="?kind=output">Try again');
});

test('renders the theme of the cookie, and the default for an invalid one', async () => {
  expect(await read('/html/', 'signed-in; northwind_theme=iris.dark')).toContain('data-theme="iris dark"');
  expect(await read('/html/', 'signed-in; northwind_theme=x.y')).toContain('data-theme="harbor auto"');
});

test('sends assets as immutable', async () => {
  const answer = await get('/assets/html-1.js');
  expect(answer?.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(answer?.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

test.each([
  ['/', '/script/'],
  ['/html', '/html/'],
])('redirects %s to %s', async (from, to) => {
  const answer = await get(from);
  expect([answer?.status, answer?.headers.get('location')]).toEqual([302, to]);
});

test.each([
  '/vue/',
  '/other/',
  '/assets/',
  '/assets/notes.txt',
  '/sources.json',
  '/%2e%2e/secret.json',
  '/..%2fsecret.json',
  '/secret.json',
])('does not serve %s', async (path) => {
  expect(await get(path)).toBeUndefined();
});

test('does not handle POST', async () => {
  expect(await get('/html/', 'POST')).toBeUndefined();
});
