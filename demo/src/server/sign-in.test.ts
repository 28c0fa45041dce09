import { beforeEach, expect, test } from 'vitest';
import { createSignIn, type SignIn } from './sign-in.js';

const tenants = [
  { id: 'acme', name: 'Acme', organizationId: 'org-acme' },
  { id: 'globex', name: 'Globex', organizationId: 'org-globex' },
];
let signIn: SignIn;

beforeEach(() => {
  signIn = createSignIn(tenants);
});

function request(path: string, init: RequestInit = {}): Request {
  return new Request(`http://localhost:3000${path}`, init);
}

function post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  const json = { 'content-type': 'application/json', ...headers };
  return request(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
}

/** Signs in and returns the headers that the browser sends from then on. */
async function enter(tenantId: string): Promise<{ cookie: string }> {
  const answer = await signIn.handle(post('/demo/sign-in', { tenantId }));
  expect(answer?.status).toBe(200);
  return { cookie: answer?.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

test('signing in sets an HttpOnly, SameSite=Lax cookie', async () => {
  const answer = await signIn.handle(post('/demo/sign-in', { tenantId: 'acme' }));
  expect(answer?.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^northwind_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/),
  ]);
  expect(await answer?.json()).toEqual({
    tenant: { id: 'acme', name: 'Acme' },
    tenants: [
      { id: 'acme', name: 'Acme' },
      { id: 'globex', name: 'Globex' },
    ],
  });
});

test('identifies the tenant by the session cookie among others', async () => {
  const { cookie } = await enter('globex');
  const headers = { cookie: `theme=dark; ${cookie}; other=1` };
  expect(signIn.tenantOf(request('/', { headers }))?.organizationId).toBe('org-globex');
  const answer = await signIn.handle(request('/demo/me', { headers }));
  expect(await answer?.json()).toMatchObject({ tenant: { id: 'globex' } });
});

test.each(['', 'northwind_session=', 'northwind_session=acme', 'xnorthwind_session=1'])(
  'the cookie %j has no tenant',
  (cookie) => {
    expect(signIn.tenantOf(request('/', { headers: { cookie } }))).toBeUndefined();
  },
);

test('signing out ends the session on the server', async () => {
  const headers = await enter('acme');
  const answer = await signIn.handle(post('/demo/sign-out', {}, headers));
  expect(await answer?.json()).toMatchObject({ tenant: null });
  expect(signIn.tenantOf(request('/', { headers }))).toBeUndefined();
});

test.each([{ tenantId: 'initech' }, { tenantId: '' }, {}, [], null])('rejects the body %j', async (body) => {
  const answer = await signIn.handle(post('/demo/sign-in', body));
  expect([answer?.status, answer?.headers.getSetCookie()]).toEqual([400, []]);
});

const form = (headers: Record<string, string>) =>
  request('/demo/sign-in', { method: 'POST', headers, body: new URLSearchParams({ tenantId: 'acme' }) });

test('a form of the page signs in and redirects to the page', async () => {
  const referer = 'http://localhost:3000/html/?kind=output&type=splunk';
  const answer = await signIn.handle(form({ 'sec-fetch-site': 'same-origin', referer }));
  expect([answer?.status, answer?.headers.get('location')]).toEqual([303, referer]);
  const cookie = answer?.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(signIn.tenantOf(request('/', { headers: { cookie } }))?.id).toBe('acme');
});

test('switching the tenant closes the open form', async () => {
  const { cookie } = await enter('globex');
  const referer = 'http://localhost:3000/html/?kind=output&type=splunk&id=con_1';
  const answer = await signIn.handle(form({ 'sec-fetch-site': 'same-origin', referer, cookie }));
  expect(answer?.headers.get('location')).toBe('http://localhost:3000/html/?kind=output');
});

test.each([
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  {},
])('rejects a form sent with %j', async (headers) => {
  const answer = await signIn.handle(form(headers));
  expect([answer?.status, answer?.headers.getSetCookie()]).toEqual([403, []]);
  const { cookie } = await enter('acme');
  const out = request('/demo/sign-out', {
    method: 'POST',
    headers: { ...headers, cookie },
    body: new URLSearchParams(),
  });
  expect((await signIn.handle(out))?.status).toBe(403);
  expect(signIn.tenantOf(request('/', { headers: { cookie } }))?.id).toBe('acme');
});

test('rejects multipart forms and GET', async () => {
  const body = new FormData();
  body.set('tenantId', 'acme');
  const own = { 'sec-fetch-site': 'same-origin' };
  expect((await signIn.handle(request('/demo/sign-in', { method: 'POST', headers: own, body })))?.status).toBe(415);
  expect((await signIn.handle(request('/demo/sign-in')))?.status).toBe(405);
});

test('does not handle other paths', async () => {
  expect(await signIn.handle(request('/html/'))).toBeUndefined();
});
