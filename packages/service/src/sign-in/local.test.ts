/** Local accounts: mails go to a real SMTP server (`smtp-server`), codes are those of `otpauth`. */
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';
import { linkIn, startMailServer, type MailServer } from '../../../../test/support/sign-in/mail-server.js';
import {
  pageClient,
  textOf,
  tokenIn,
  type PageClient,
  type Shown,
} from '../../../../test/support/sign-in/page-client.js';
import { bootstrapAdmin } from './bootstrap-admin.js';
import { createMailer } from './mailer.js';

const PASSWORD = 'four quiet herons at noon';
/** Hashes of the default cost would take minutes here. */
const passwordCost = { logN: 4, r: 8, p: 1 };

const databases = anyDatabase();
let mails: MailServer;
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  mails = await startMailServer();
  service = await createTestService({
    database: await databases.open(),
    mailer: createMailer(mails.url, 'Connectors <connectors@service.example>'),
    limits: { sign_in: { points: 10, seconds: 900 }, sign_in_address: { points: 200, seconds: 900 } },
    settings: { signIn: { localAccounts: true, passwordCost } },
  });
  acme = await service.tenant('Northwind');
});
afterAll(async () => {
  await service.store.close();
  await mails.close();
  await databases.close();
});

const local = (url: string): string => url.slice(PUBLIC_URL.length);
const lastLink = (): string => local(linkIn(mails.mails.at(-1) ?? { to: [], from: '', raw: '' }));
const codeOf = (secret: string, ahead = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock.now() + ahead });
const secretIn = ({ html }: Shown): string => textOf(html, 'code').replaceAll(' ', '');

const invite = (email: string, role_id = 'reader', org = acme.id) =>
  service.call('POST', `/v1/${org}/invites`, { key: acme.key, body: { email, role_id } });

interface Account {
  email: string;
  secret: string;
  recoveryCodes: string[];
  token: string;
  browser: PageClient;
}

/** Accepts an invitation with a new account, as a person does. */
async function join(email: string, role = 'reader', org = acme.id): Promise<Account> {
  expect((await invite(email, role, org)).status).toBe(200);
  const browser = pageClient(service);
  await browser.get(lastLink());
  const setup = await browser.submit('/login/invitation', { username: 'Ana Lima', password: PASSWORD });
  expect(textOf(setup.html, 'h1')).toBe('Set up your authenticator app');
  const secret = secretIn(setup);
  const done = await browser.submit('/login/setup', { code: codeOf(secret) });
  expect([done.status, textOf(done.html, 'h1')]).toEqual([200, 'You are signed in']);
  const recoveryCodes = [...done.html.matchAll(/<code>([\w-]+)<\/code>/g)].map(([, code = '']) => code);
  // The next sign-in needs the next code.
  service.clock.advance(30_000);
  return { email, secret, recoveryCodes, token: tokenIn(done.html), browser };
}

/** Signs in up to the page that asks for a code. */
async function enterPassword(email: string, password = PASSWORD, browser = pageClient(service)) {
  await browser.get('/v1/login');
  await browser.submit('/login', { email });
  return { browser, page: await browser.submit('/login/password', { password }) };
}

async function signIn(email: string, code: string): Promise<Shown> {
  const { browser } = await enterPassword(email);
  return browser.submit('/login/code', { code });
}

const token = (body: object, peer?: string) =>
  service.call('POST', '/v1/login/token', { body, ...(peer !== undefined && { peer }) });
const whoAmI = (user: string) => service.call('GET', `/v1/users?organization_id=${acme.id}`, { user });

describe('an invitation', () => {
  it('is sent by mail, and creates an account with a second factor', async () => {
    const { status, body } = await invite('Ana@Example.com', 'contributor');
    expect([status, body]).toEqual([200, 'The invitation was sent to ana@example.com.']);
    const mail = mails.mails.at(-1);
    expect(mail).toMatchObject({ to: ['ana@example.com'], from: 'connectors@service.example' });
    expect(mail?.raw).toContain('Subject: Invitation to Northwind');
    const account = await join('ana@example.com', 'contributor');
    expect(account.recoveryCodes).toHaveLength(10);
    expect((await whoAmI(account.token)).body).toMatchObject({
      email: 'ana@example.com',
      username: 'Ana Lima',
      organization_role: { role_id: 'contributor' },
    });
    const mfa = await service.call('GET', '/v3/users/mfa', { user: account.token });
    expect(mfa.body).toMatchObject({ enabled: true, methods: [{ type: 'totp' }, { name: '10 recovery codes' }] });
  });

  it('is accepted once, also by two browsers at the same time', async () => {
    await invite('twice@example.com');
    const browsers = [pageClient(service), pageClient(service)];
    const secrets: string[] = [];
    for (const browser of browsers) {
      await browser.get(lastLink());
      secrets.push(secretIn(await browser.submit('/login/invitation', { username: 'T', password: PASSWORD })));
    }
    const pages = await Promise.all(
      browsers.map((browser, index) => browser.submit('/login/setup', { code: codeOf(secrets[index] ?? '') })),
    );
    expect(pages.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      expect.toSatisfy((status) => status >= 400),
    ]);
    expect((await pageClient(service).get(lastLink())).status).toBe(400);
  });

  it('expires after seven days, and is replaced by the next one and ended by its withdrawal', async () => {
    const statuses = async (...links: string[]) =>
      Promise.all(links.map(async (link) => (await pageClient(service).get(link)).status));
    await invite('late@example.com');
    const first = lastLink();
    await invite('late@example.com');
    const second = lastLink();
    expect(await statuses(first, second)).toEqual([400, 200]);
    const { body } = await service.call('GET', `/v1/${acme.id}/invites`, { key: acme.key });
    const found = body.invites.find(({ email }: { email: string }) => email === 'late@example.com');
    expect(JSON.stringify(body)).not.toMatch(/token|digest/);
    await service.call('DELETE', `/v1/${acme.id}/invites/${found.id}`, { key: acme.key });
    expect(await statuses(second)).toEqual([400]);
    await invite('late@example.com');
    service.clock.advance(7 * 86_400_000);
    expect(await statuses(lastLink())).toEqual([400]);
  });

  it('moves its token out of the address at once, and changes nothing when it is only opened', async () => {
    await invite('scanned@example.com');
    const link = lastLink();
    const response = await service.app.request(link);
    expect([response.status, response.headers.get('location')]).toEqual([303, '/login/invitation']);
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await service.store.users.byEmail('scanned@example.com', null)).toBeUndefined();
    expect((await pageClient(service).get(link)).status).toBe(200);
  });

  it('is accepted by a sign-in if the address has an account', async () => {
    const { email, secret } = await join('member@example.com');
    await invite(email, 'admin', acme.team);
    const browser = pageClient(service);
    const page = await browser.get(lastLink());
    expect(page.html).toContain('Sign in with this address to accept');
    await browser.submit('/login/invitation', {});
    await browser.submit('/login/password', { password: PASSWORD });
    const done = await browser.submit('/login/code', { code: codeOf(secret) });
    const path = `/v1/users?organization_id=${acme.team}`;
    const { body } = await service.call('GET', path, { user: tokenIn(done.html) });
    expect(body.organization_role).toMatchObject({ role_id: 'admin', inherited: false });
  });

  it('is refused with a password that is easy to guess, and keeps what was entered', async () => {
    await invite('weak@example.com');
    const browser = pageClient(service);
    await browser.get(lastLink());
    for (const password of ['short', 'weak@example.com', 'aaaaaaaaaaaaaaaa', 'password12345678', 'Weak Weaver weak']) {
      const page = await browser.submit('/login/invitation', { username: 'Weak Weaver', password });
      expect([password, page.status]).toEqual([password, 400]);
      expect(page.html).toContain('value="Weak Weaver"');
      expect(page.html).toMatch(/name="password"\s+type="password"\s+value=""/);
    }
  });

  it('cannot smuggle headers or recipients into a mail', async () => {
    const before = mails.mails.length;
    for (const email of [
      'a@example.com\r\nBcc: all@example.com',
      'a@example.com, b@example.com',
      '"a\r\nBcc: x"@example.com',
      'a@example.com>\r\nDATA',
      'Ana <a@example.com>',
      'ä@example.com',
      'a@localhost',
      '',
    ]) {
      expect([email, (await invite(email)).status]).toEqual([email, 400]);
    }
    expect(mails.mails.length).toBe(before);
    const evil = await service.tenant('Evil\r\nBcc: all@example.com\r\n\r\nBuy now');
    const body = { email: 'v@example.com', role_id: 'reader' };
    await service.call('POST', `/v1/${evil.id}/invites`, { key: evil.key, body });
    const { raw = '', to } = mails.mails.at(-1) ?? {};
    expect(to).toEqual(['v@example.com']);
    expect(raw.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/m);
    expect(raw).not.toMatch(/^Bcc:/m);
  });
});

describe('a sign-in with a password', () => {
  let bo: Account;
  beforeAll(async () => {
    bo = await join('bo@example.com');
  });

  it('needs the password and a code, which is accepted once', async () => {
    const code = codeOf(bo.secret);
    expect((await signIn(bo.email, code)).status).toBe(200);
    expect((await signIn(bo.email, code)).status).toBe(401);
    service.clock.advance(30_000);
    // Clocks of phones differ by up to a time step.
    expect((await signIn(bo.email, codeOf(bo.secret, 30_000))).status).toBe(200);
    expect((await signIn(bo.email, codeOf(bo.secret))).status).toBe(401);
    expect((await signIn(bo.email, codeOf(bo.secret, 90_000))).status).toBe(401);
    service.clock.advance(90_000);
    expect((await signIn(bo.email, codeOf(bo.secret))).status).toBe(200);
  });

  it('accepts each recovery code once, in any spelling', async () => {
    const [first = '', second = ''] = bo.recoveryCodes;
    expect((await signIn(bo.email, first.toLowerCase().replace('-', ' '))).status).toBe(200);
    expect((await signIn(bo.email, first)).status).toBe(401);
    expect((await signIn(bo.email, second)).status).toBe(200);
  });

  it('does not skip the code: no page and no token without it', async () => {
    const { browser } = await enterPassword(bo.email);
    for (const path of ['/login/setup', '/login/invitation', '/login/new-password', '/login/verify']) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 400]);
      expect([path, (await browser.submit(path, { code: '000000', password: PASSWORD })).status]).toEqual([path, 400]);
    }
    expect((await browser.submit('/login/setup', { skip: 'yes' })).status).toBe(400);
    const other = pageClient(service);
    await other.get('/v1/login');
    await other.submit('/login', { email: bo.email });
    expect((await other.get('/login/code')).status).toBe(400);
  });

  it('needs the cookie and the form of the same browser (CSRF)', async () => {
    const browser = pageClient(service);
    await browser.get('/v1/login');
    const cases = [
      await browser.submit('/login', { email: bo.email, csrf: 'x' }),
      await browser.crossSitePost('/login', { email: bo.email, csrf: 'x' }),
      await pageClient(service).submit('/login/password', { password: PASSWORD }),
    ];
    for (const { status, html } of cases) expect([status, html]).toEqual([400, expect.stringContaining('Start again')]);
  });

  it('tells nothing about which addresses have an account', async () => {
    const pages = [];
    for (const email of [bo.email, 'nobody@example.com']) {
      const { page } = await enterPassword(email, 'a wrong password');
      pages.push([page.status, page.html.replaceAll(email, '').replaceAll(/value="[\w-]+"/g, '')]);
    }
    expect(pages[0]).toEqual(pages[1]);
    const answers = [];
    for (const username of [bo.email, 'nobody@example.com', 'no address'])
      answers.push(await token({ username, password: 'a wrong password', otp: '000000' }));
    for (const { status, text } of answers) expect([status, text]).toEqual([401, answers[0]?.text]);
    expect(answers[0]?.body.error_type).toBe('invalid_credentials');
  });

  it('is locked after ten failures of an account, known or not, from any address', async () => {
    const { email, secret } = await join('locked@example.com');
    for (const username of [email, 'unknown@example.com']) {
      for (let turn = 0; turn < 10; turn += 1)
        expect((await token({ username, password: 'wrong wrong' }, `192.0.2.${turn}`)).status).toBe(401);
      const { status, headers } = await token({ username, password: PASSWORD, otp: codeOf(secret) }, '198.51.100.7');
      expect([username, status, Number(headers.get('retry-after'))]).toEqual([username, 429, expect.closeTo(900, -1)]);
    }
    const page = (await enterPassword(email)).page;
    expect([page.status, page.html]).toEqual([429, expect.stringContaining('Too many requests')]);
    const rows = await service.database.script((run) => run('select * from rate_limits'));
    expect(JSON.stringify(rows)).not.toContain(email);
  });

  it('starts the count of failures again after a success', async () => {
    const { email, secret } = await join('patient@example.com');
    for (let round = 0; round < 3; round += 1) {
      for (let turn = 0; turn < 6; turn += 1) await token({ username: email, password: 'wrong wrong' });
      service.clock.advance(30_000);
      expect((await token({ username: email, password: PASSWORD, otp: codeOf(secret) })).status).toBe(200);
    }
  });
});

describe('POST /v1/login/token', () => {
  it('asks for the code only after the right password, and gives tokens that work', async () => {
    const { email, secret } = await join('cli@example.com');
    const { status, body } = await token({ username: email, password: PASSWORD });
    expect([status, body.error_type]).toEqual([401, 'otp_required']);
    const given = await token({ username: email, password: PASSWORD, otp: codeOf(secret) });
    expect(given.body).toMatchObject({ token_type: 'Bearer', expires_in: 600, email });
    expect((await whoAmI(given.body.access_token)).status).toBe(200);
    const headers = { origin: 'https://evil.example' };
    const foreign = await service.call('POST', '/v1/login/token', {
      body: { username: email, password: 'x' },
      headers,
    });
    expect([foreign.status, foreign.body.error_type]).toEqual([403, 'origin_not_allowed']);
  });

  it('is 404 with an identity provider, and without local accounts', async () => {
    const oidc = { issuer: 'https://idp.example', clientId: 'x', trustEmail: false };
    for (const signIn of [{ oidc }, {}]) {
      const other = await createTestService({
        database: service.database,
        master: service.master,
        settings: { signIn },
      });
      const body = { username: 'bo@example.com', password: PASSWORD };
      expect((await other.call('POST', '/v1/login/token', { body })).status).toBe(404);
    }
  });

  it('is refused for a user whose local sign-in the operator switched off', async () => {
    const { email, secret } = await join('off@example.com');
    const user = await service.store.users.byEmail(email, null);
    const now = new Date(service.clock.now());
    const row = { feature: 'local_sign_in', organizationId: null, userId: user?.id ?? '', enabled: false };
    await service.store.featureOverrides.put({ id: 'o', ...row, createdAt: now, updatedAt: now });
    const given = await token({ username: email, password: PASSWORD, otp: codeOf(secret) });
    expect([given.status, given.body.error_type]).toEqual([401, 'invalid_credentials']);
  });
});

describe('a lost password or phone', () => {
  it('gets a link by mail, which changes the password and ends all sign-ins, but keeps the second factor', async () => {
    const { email, secret, token: before } = await join('forgetful@example.com');
    const browser = pageClient(service);
    await browser.get('/login/forgot');
    const count = mails.mails.length;
    const pages = [];
    for (const address of ['nobody@example.com', email]) {
      const { html } = await browser.submit('/login/forgot', { email: address });
      pages.push(html.replaceAll(address, ''));
      await browser.get('/login/forgot');
    }
    expect(pages[0]).toBe(pages[1]);
    await expect.poll(() => mails.mails.length).toBe(count + 1);
    const link = lastLink();
    await browser.get(link);
    const done = await browser.submit('/login/new-password', { password: 'another quiet heron at dawn' });
    expect(textOf(done.html, 'h1')).toBe('Your password is changed');
    expect((await whoAmI(before)).status).toBe(401);
    expect((await pageClient(service).get(link)).status).toBe(400);
    expect((await enterPassword(email)).page.status).toBe(401);
    const { browser: next, page } = await enterPassword(email, 'another quiet heron at dawn');
    expect(textOf(page.html, 'h1')).toBe('Enter your code');
    expect((await next.submit('/login/code', { code: codeOf(secret) })).status).toBe(200);
  });

  it('is replaced by a link of the operator, with a new second factor', async () => {
    const { email, secret } = await join('phone@example.com');
    const user = await service.store.users.byEmail(email, null);
    const ticket = { purpose: 'reset', userId: user?.id ?? '', content: { factor: true } };
    const operator = pageClient(service);
    const digest = service.vault.digest('ticket', 'a-token-of-the-test');
    const expiresAt = new Date(service.clock.now() + 60_000);
    await service.store.signIns.issue({ ...ticket, digest, expiresAt });
    await operator.get('/login/link?token=a-token-of-the-test');
    expect((await operator.submit('/login/setup', { code: '123456' })).status).toBe(400);
    await operator.get('/login/link?token=a-token-of-the-test');
    const setup = await operator.submit('/login/new-password', { password: 'one more heron at dusk' });
    const fresh = secretIn(setup);
    expect(fresh).not.toBe(secret);
    expect((await operator.submit('/login/setup', { code: codeOf(fresh) })).html).toContain('Recovery codes');
    service.clock.advance(30_000);
    const { browser } = await enterPassword(email, 'one more heron at dusk');
    expect((await browser.submit('/login/code', { code: codeOf(secret) })).status).toBe(401);
    expect((await browser.submit('/login/code', { code: codeOf(fresh) })).status).toBe(200);
  });

  it('cannot be replaced with an access token alone: the page asks for the password', async () => {
    const { secret, token: user } = await join('stolen@example.com');
    const { body } = await service.call('POST', '/v3/users/mfa', { user });
    expect(body.ticket_url).toBe(`${PUBLIC_URL}/login/link?token=${body.ticket_id}`);
    const thief = pageClient(service);
    const page = await thief.get(local(body.ticket_url));
    expect(textOf(page.html, 'h1')).toBe('Confirm your password');
    const setup = await thief.get('/login/setup');
    expect((await thief.submit('/login/setup', { code: codeOf(secretIn(setup)) })).status).toBe(400);

    const owner = pageClient(service);
    await owner.get(local(body.ticket_url));
    expect((await owner.submit('/login/new-password', { password: 'wrong wrong wrong' })).status).toBe(401);
    const next = secretIn(await owner.submit('/login/new-password', { password: PASSWORD }));
    expect((await owner.submit('/login/setup', { code: codeOf(next) })).status).toBe(200);
    expect(next).not.toBe(secret);
    expect((await pageClient(service).get(local(body.ticket_url))).status).toBe(400);
  });
});

describe('an address', () => {
  it('is confirmed by the link of a mail, once', async () => {
    const { email, token: user } = await join('verify@example.com');
    const send = () => service.call('POST', '/v1/login/resend-verification', { user });
    expect((await send()).status).toBe(400);
    const row = await service.store.users.byEmail(email, null);
    if (row) await service.store.users.change({ ...row, emailVerifiedAt: null });
    expect((await send()).body).toBe('The mail was sent.');
    const browser = pageClient(service);
    const page = await browser.get(lastLink());
    expect(page.html).toContain(`Is ${email} your e-mail address?`);
    expect((await service.store.users.byEmail(email, null))?.emailVerifiedAt).toBeNull();
    expect((await browser.submit('/login/verify', {})).html).toContain('is confirmed');
    expect((await service.store.users.byEmail(email, null))?.emailVerifiedAt).toBeInstanceOf(Date);
    expect((await pageClient(service).get(lastLink())).status).toBe(400);
  });
});

it('the person of BOOTSTRAP_ADMIN_EMAIL is invited once, and again when the invitation has expired', async () => {
  const mailer = createMailer(mails.url, 'connectors@service.example');
  const tools = { ...service, mailer, publicUrl: PUBLIC_URL };
  const admin = { organizationId: acme.id, email: 'first@example.com', hasProvider: false };
  expect([await bootstrapAdmin(tools, admin), await bootstrapAdmin(tools, admin)]).toEqual(['invited', undefined]);
  service.clock.advance(7 * 86_400_000);
  expect(await bootstrapAdmin(tools, admin)).toBe('invited');
  expect((await pageClient(service).get(lastLink())).html).toContain('invited with the role Admin');
});

describe('without SMTP', () => {
  it('the response to an invitation contains the link, and the address counts as not confirmed', async () => {
    const settings = { signIn: { localAccounts: true, requireSecondFactor: false, passwordCost } };
    const alone = await createTestService({ database: service.database, master: service.master, settings });
    const body = { email: 'alone@example.com', role_id: 'reader' };
    const { body: link } = await alone.call('POST', `/v1/${acme.id}/invites`, { key: acme.key, body });
    const browser = pageClient(alone);
    await browser.get(local(link));
    await browser.submit('/login/invitation', { username: 'Al', password: PASSWORD });
    const done = await browser.submit('/login/setup', { skip: 'yes' });
    expect(textOf(done.html, 'h1')).toBe('You are signed in');
    const user = await alone.store.users.byEmail('alone@example.com', null);
    expect(user?.emailVerifiedAt).toBeNull();
    const send = await alone.call('POST', '/v1/login/resend-verification', { user: tokenIn(done.html) });
    expect([send.status, send.body.error]).toEqual([400, expect.stringContaining('SMTP_URL')]);
    expect((await browser.get('/login/forgot')).status).toBe(404);
  });

  it('a mail server that refuses the mail is reported, and a retry replaces the invitation', async () => {
    mails.reject();
    const { status, body } = await invite('bounced@example.com');
    expect([status, body.error_type]).toEqual([503, 'unavailable']);
    const tools = { ...service, mailer: createMailer(mails.url, 'a@service.example'), publicUrl: PUBLIC_URL };
    const admin = { organizationId: acme.id, email: 'boss@example.com', hasProvider: false };
    await expect(bootstrapAdmin(tools, admin)).rejects.toThrow();
    await expect(bootstrapAdmin(tools, admin)).rejects.toThrow();
  });
});

it('writes no password, code, secret, token or link into the log, the audit log and errors', async () => {
  const log = service.log.join('\n');
  const rows = await service.database.script((run) => run('select * from audit_logs'));
  expect(JSON.stringify(rows)).toContain('ana@example.com');
  for (const text of [log, JSON.stringify(rows)]) {
    for (const secret of [PASSWORD, 'heron', 'token=', 'eyJ', 'otpauth', 'scrypt$', 'wrong wrong'])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
  }
  expect(log).not.toContain('@example.com');
  const stored = JSON.stringify(await service.database.script((run) => run('select * from local_credentials')));
  expect(stored).toContain('scrypt$');
  expect(stored).not.toContain('heron');
});
