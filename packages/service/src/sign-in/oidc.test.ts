/** Against `oidc-provider`, a certified OpenID provider, over real HTTP on loopback. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';
import { startOidcServer, type OidcServer } from '../../../../test/support/sign-in/oidc-provider.js';
import { bootstrapAdmin } from './bootstrap-admin.js';
import { createFlows } from './flows.js';
import {
  pageClient,
  textOf,
  tokenIn,
  type PageClient,
  type Shown,
} from '../../../../test/support/sign-in/page-client.js';

const CONSOLE = 'https://console.example';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

const databases = anyDatabase();
let provider: OidcServer;
let service: TestService;
let acme: Tenant;
let browser: PageClient;

beforeAll(async () => {
  provider = await startOidcServer(`${PUBLIC_URL}/v1/login/callback`);
  const { issuer, clientId, clientSecret } = provider;
  service = await createTestService({
    database: await databases.open(),
    settings: { consoleOrigins: [CONSOLE], signIn: { oidc: { issuer, clientId, clientSecret, trustEmail: false } } },
  });
  acme = await service.tenant('Northwind');
});
afterAll(async () => {
  await service.store.close();
  await provider.close();
  await databases.close();
});
beforeEach(() => {
  browser = pageClient(service);
});

const local = (url: string): string => url.slice(PUBLIC_URL.length);

/** Signs in at the provider, from wherever the sign-in starts, until the service shows a page. */
async function signInAs(subject: string, start: Shown | Promise<Shown> = browser.get('/v1/login')): Promise<Shown> {
  const { leaves = '' } = await start;
  return browser.get(local(await provider.signIn(leaves, subject)));
}

async function invite(email: string, role_id = 'reader', org = acme.id): Promise<string> {
  const { status, body } = await service.call('POST', `/v1/${org}/invites`, {
    key: acme.key,
    body: { email, role_id },
  });
  expect(status).toBe(200);
  return local(body);
}

async function accept(email: string, subject: string, role = 'reader'): Promise<Shown> {
  expect((await browser.get(await invite(email, role))).path).toBe('/login/invitation');
  return signInAs(subject, browser.submit('/login/invitation', {}));
}

const whoAmI = (user: string, org = acme.id) => service.call('GET', `/v1/users?organization_id=${org}`, { user });

describe('sign-in at the provider of the operator', () => {
  it('turns an invitation into a member with the invited role, once', async () => {
    provider.accounts.set('ana', { email: 'Ana@Example.com', email_verified: true, name: 'Ana Lima' });
    const link = await invite('ana@example.com', 'contributor');
    const page = await browser.get(link);
    expect(page.html).toContain('Join Northwind');
    const done = await signInAs('ana', browser.submit('/login/invitation', {}));
    expect(textOf(done.html, 'h1')).toBe('You are signed in');
    const token = tokenIn(done.html);
    const { body } = await whoAmI(token);
    expect(body).toMatchObject({
      email: 'ana@example.com',
      username: 'Ana Lima',
      auth_provider: { provider: 'oidc', provider_id: 'ana' },
      organization_role: { role_id: 'contributor', inherited: false, source_organization_id: acme.id },
    });
    const inTeam = await whoAmI(token, acme.team);
    expect(inTeam.body.organization_role).toMatchObject({ inherited: true, source_organization_id: acme.id });
    expect((await pageClient(service).get(link)).status).toBe(400);
    const again = tokenIn((await signInAs('ana')).html);
    expect((await whoAmI(again)).body.id).toBe(body.id);
  });

  it('refuses people without an account and without an invitation, and stores nothing', async () => {
    provider.accounts.set('eve', { email: 'eve@example.com', email_verified: true });
    const page = await signInAs('eve');
    expect([page.status, page.html]).toEqual([403, expect.stringContaining('You have no account here')]);
    expect(await service.store.users.byEmail('eve@example.com', null)).toBeUndefined();
  });

  it('refuses an invitation for another address than that of the sign-in', async () => {
    provider.accounts.set('mallory', { email: 'mallory@example.com', email_verified: true });
    const page = await accept('cleo@example.com', 'mallory');
    expect([page.status, page.html]).toEqual([403, expect.stringContaining('another e-mail address')]);
    expect(await service.store.users.byEmail('mallory@example.com', null)).toBeUndefined();
  });

  it('does not believe an address that the provider does not confirm', async () => {
    for (const email_verified of [false, undefined]) {
      provider.accounts.set('thief', {
        email: 'victim@example.com',
        ...(email_verified === false && { email_verified }),
      });
      const page = await accept('victim@example.com', 'thief');
      expect([page.status, page.html]).toEqual([403, expect.stringContaining('does not confirm')]);
    }
    expect(await service.store.users.byEmail('victim@example.com', null)).toBeUndefined();
  });

  it('does not give an account to another subject with the same confirmed address', async () => {
    provider.accounts.set('dora-1', { email: 'dora@example.com', email_verified: true });
    expect((await accept('dora@example.com', 'dora-1', 'admin')).status).toBe(200);
    provider.accounts.set('dora-2', { email: 'dora@example.com', email_verified: true });
    const page = await signInAs('dora-2');
    expect([page.status, page.html]).toEqual([403, expect.stringContaining('Another account has this e-mail address')]);
  });

  it('does not link an account whose address is not confirmed, and links one that the operator created', async () => {
    const now = new Date(service.clock.now());
    const user = { connectionId: null, username: 'X', emailVerifiedAt: null, createdAt: now, updatedAt: now };
    const doubtful = { id: 'doubtful', email: 'finn@example.com', ...user };
    await service.store.users.create(doubtful);
    await service.store.users.setCredentials({
      userId: doubtful.id,
      password: 'x',
      totp: null,
      totpStep: 0,
      totpCreatedAt: null,
      recoveryCodes: [],
      updatedAt: now,
    });
    provider.accounts.set('finn', { email: 'finn@example.com', email_verified: true });
    expect((await signInAs('finn')).status).toBe(403);

    const created = { id: 'created', email: 'gil@example.com', ...user };
    await service.store.users.create(created);
    const role = { organizationId: acme.id, userId: created.id, roleId: 'admin', createdAt: now, updatedAt: now };
    await service.store.memberships.insert({ ...role, user: created });
    provider.accounts.set('gil', { email: 'gil@example.com', email_verified: true });
    expect((await whoAmI(tokenIn((await signInAs('gil')).html))).body.id).toBe('created');
  });

  it('makes the person of BOOTSTRAP_ADMIN_EMAIL an administrator, once', async () => {
    const tools = { ...service, mailer: undefined, publicUrl: PUBLIC_URL };
    const admin = { organizationId: acme.id, email: 'first@example.com', hasProvider: true };
    expect([await bootstrapAdmin(tools, admin), await bootstrapAdmin(tools, admin)]).toEqual(['added', undefined]);
    provider.accounts.set('first', { email: 'first@example.com', email_verified: true });
    const { body } = await whoAmI(tokenIn((await signInAs('first')).html));
    expect(body.organization_role.role_id).toBe('admin');
  });

  it('keeps an account when its address changes, unless another account has the new one', async () => {
    provider.accounts.set('hal', { email: 'hal@example.com', email_verified: true });
    const { id } = (await whoAmI(tokenIn((await accept('hal@example.com', 'hal')).html))).body;
    const emailAs = async (account: { email: string; email_verified: boolean }) => {
      provider.accounts.set('hal', account);
      const { body } = await whoAmI(tokenIn((await signInAs('hal')).html));
      expect(body.id).toBe(id);
      return body.email;
    };
    expect(await emailAs({ email: 'hal@new.example', email_verified: true })).toBe('hal@new.example');
    expect(await emailAs({ email: 'ana@example.com', email_verified: true })).toBe('hal@new.example');
    expect(await emailAs({ email: 'boss@example.com', email_verified: false })).toBe('hal@new.example');
  });
});

/** Signs in at the provider, and returns the path that it sends the browser to. */
const callback = async () => local(await provider.signIn((await browser.get('/v1/login')).leaves ?? '', 'ana'));

describe('the sign-in belongs to the browser that began it', () => {
  it('rejects a callback in another browser (login CSRF)', async () => {
    const path = await callback();
    const page = await pageClient(service).get(path);
    expect([page.status, page.html]).toEqual([400, expect.stringContaining('Start again')]);
    expect(page.html).not.toContain('Access token');
  });

  it('rejects another state, another nonce and another verifier', async () => {
    const flows = createFlows(service.vault, service.clock, true);
    for (const name of ['state', 'nonce', 'verifier'] as const) {
      const path = await callback();
      const [cookie = ''] = browser.cookies;
      const flow = flows.require(cookie[0] + '=' + cookie[1]);
      const oidc = { state: '', nonce: '', verifier: '', ...flow.oidc };
      const changed = { ...flow, oidc: { ...oidc, [name]: randomBytes(32).toString('base64url') } };
      browser.cookies.set('__Host-sign-in', /=([^;]+)/.exec(flows.cookie(changed))?.[1] ?? '');
      expect([name, (await browser.get(path)).status]).toEqual([name, 502]);
    }
  });

  it('rejects the same callback again', async () => {
    const path = await callback();
    const cookies = new Map(browser.cookies);
    expect((await browser.get(path)).status).toBe(200);
    expect((await browser.get(path)).status).toBe(400);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.get(path)).status).toBe(502);
  });

  it('gives each sign-in a new ID, whatever cookies the browser has (session fixation)', async () => {
    const ids = [];
    for (let turn = 0; turn < 2; turn += 1) {
      browser.cookies.set('__Host-sign-in', 'chosen-by-an-attacker');
      const token = tokenIn((await signInAs('ana')).html);
      ids.push(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid);
    }
    expect(new Set(ids).size).toBe(2);
    const page = await browser.get('/login');
    expect(page.headers.get('set-cookie')).toMatch(
      /^__Host-sign-in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max/,
    );
  });

  it('shows a refusal at the provider as a sentence', async () => {
    const { leaves = '' } = await browser.get('/v1/login');
    const page = await browser.get(local(await provider.cancel(leaves)));
    expect([page.status, page.html]).toEqual([403, expect.stringContaining('refused the sign-in')]);
  });

  it('says when the provider does not respond', async () => {
    const signIn = { oidc: { issuer: 'http://127.0.0.1:9', clientId: 'x', trustEmail: false } };
    const away = await createTestService({ database: await databases.open(), settings: { signIn } });
    const { status, body } = await away.call('GET', '/v1/login');
    expect([status, body.error_type]).toEqual([503, 'sign_in_failed']);
    // A person in a browser reads a page.
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await away.call('GET', '/v1/login', { headers: { accept } });
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect([page.headers.get('vary'), page.text]).toEqual(['Accept', expect.stringContaining('<title>')]);
    const mistaken = await away.call('GET', '/v1/login?connection_id=x', { headers: { accept } });
    expect([mistaken.status, mistaken.text]).toEqual([404, expect.stringContaining('<h1>')]);
    for (const other of ['application/json, text/html;q=0', '*/*'])
      expect((await away.call('GET', '/v1/login', { headers: { accept: other } })).body.code).toBe(503);
    await away.store.close();
  });
});

const login = (query: Record<string, string>) => `/v1/login?${new URLSearchParams(query).toString()}`;

describe('a console on another origin', () => {
  const begin = { return_to: `${CONSOLE}/signed-in?tab=1`, code_challenge: CHALLENGE, state: 'a b' };
  const exchange = (body: object, headers = { origin: CONSOLE }) =>
    service.call('POST', '/v1/login/exchange', { body, headers });

  const codeOf = async (): Promise<string> => {
    const { leaves = '' } = await signInAs('ana', browser.get(login(begin)));
    const url = new URL(leaves);
    expect([url.origin, url.pathname, url.searchParams.get('tab')]).toEqual([CONSOLE, '/signed-in', '1']);
    expect(url.searchParams.get('state')).toBe('a b');
    return url.searchParams.get('code') ?? '';
  };

  it('gets a code, exchanges it once for tokens, and calls the API', async () => {
    const code = await codeOf();
    const { status, body, headers } = await exchange({ code, code_verifier: VERIFIER });
    expect([status, body.token_type, body.expires_in, body.email]).toEqual([200, 'Bearer', 600, 'ana@example.com']);
    expect(headers.get('access-control-allow-origin')).toBe(CONSOLE);
    const path = `/v1/users?organization_id=${acme.id}`;
    const call = (origin: string) => service.call('GET', path, { user: body.access_token, headers: { origin } });
    expect((await call(CONSOLE)).status).toBe(200);
    for (const origin of ['https://evil.example', PUBLIC_URL, 'null'])
      expect([(await call(origin)).status, (await call(origin)).body.error_type]).toEqual([403, 'origin_not_allowed']);
    expect((await exchange({ code, code_verifier: VERIFIER })).status).toBe(400);
  });

  it('is not given the tokens of a stolen code, and ends the sign-in', async () => {
    const stolen = await codeOf();
    const wrong = { code: stolen, code_verifier: 'x'.repeat(43) };
    expect((await exchange(wrong)).status).toBe(400);
    expect((await exchange({ code: stolen, code_verifier: VERIFIER })).status).toBe(400);
    const late = await codeOf();
    service.clock.advance(61_000);
    expect((await exchange({ code: late, code_verifier: VERIFIER })).status).toBe(400);
    expect((await exchange({ code: await codeOf(), code_verifier: VERIFIER }, { origin: PUBLIC_URL })).status).toBe(
      403,
    );
  });

  it('is the only place where a sign-in leads to (open redirects)', async () => {
    for (const return_to of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      `${CONSOLE}.evil.example/`,
      `${CONSOLE}@evil.example/`,
      `https://user:pass@console.example/`,
      `${CONSOLE}:444/`,
      `http://console.example/`,
      `${CONSOLE}/#token`,
      'javascript:alert(1)',
      'data:text/html,x',
      'https://console.example%2eevil.example/',
      `${CONSOLE}\n.evil.example/`,
      '',
    ]) {
      const page = await browser.get(login({ ...begin, return_to }));
      const target = page.leaves === undefined ? undefined : new URL(page.leaves).origin;
      expect([return_to, page.status === 400 || target === provider.issuer]).toEqual([return_to, true]);
      if (page.status !== 400) expect(new URL(return_to).origin).toBe(CONSOLE);
    }
    expect((await browser.get(login({ return_to: begin.return_to }))).status).toBe(400);
    expect((await browser.get(login({ state: 'x' }))).status).toBe(400);
  });
});

it('writes no code, token, state or address into the log', async () => {
  const log = service.log.join('\n');
  expect(log).toContain('user signed in');
  for (const secret of [provider.clientSecret, VERIFIER, 'eyJ', 'code=', 'state=', '@example.com', 'token=']) {
    expect([secret, log.includes(secret)]).toEqual([secret, false]);
  }
});
