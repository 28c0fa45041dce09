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

/** Signs in and answers the headers the browser sends from then on. */
async function enter(tenantId: string): Promise<{ cookie: string }> {
  const answer = await signIn.handle(post('/demo/sign-in', { tenantId }));
  expect(answer?.status).toBe(200);
  return { cookie: answer?.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

test('signing in sets a cookie that scripts can’t read and other sites can’t send', async () => {
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

test('the cookie says who it is, among others', async () => {
  const { cookie } = await enter('globex');
  const headers = { cookie: `theme=dark; ${cookie}; other=1` };
  expect(signIn.tenantOf(request('/', { headers }))?.organizationId).toBe('org-globex');
  const answer = await signIn.handle(request('/demo/me', { headers }));
  expect(await answer?.json()).toMatchObject({ tenant: { id: 'globex' } });
});

test.each(['', 'northwind_session=', 'northwind_session=acme', 'xnorthwind_session=1'])('%j is nobody', (cookie) => {
  expect(signIn.tenantOf(request('/', { headers: { cookie } }))).toBeUndefined();
});

test('signing out ends the session on the server too', async () => {
  const headers = await enter('acme');
  const answer = await signIn.handle(post('/demo/sign-out', {}, headers));
  expect(await answer?.json()).toMatchObject({ tenant: null });
  expect(signIn.tenantOf(request('/', { headers }))).toBeUndefined();
});

test.each([{ tenantId: 'initech' }, { tenantId: '' }, {}, [], null])('%j signs nobody in', async (body) => {
  const answer = await signIn.handle(post('/demo/sign-in', body));
  expect([answer?.status, answer?.headers.getSetCookie()]).toEqual([400, []]);
});

test('a form of another site signs nobody in, and a link does not either', async () => {
  const form = request('/demo/sign-in', { method: 'POST', body: new URLSearchParams({ tenantId: 'acme' }) });
  expect((await signIn.handle(form))?.status).toBe(415);
  expect((await signIn.handle(request('/demo/sign-in')))?.status).toBe(405);
});

test('other addresses are not its own', async () => {
  expect(await signIn.handle(request('/html/'))).toBeUndefined();
});
