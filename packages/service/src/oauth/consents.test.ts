/** Against `oidc-provider`, a certified OpenID provider that rotates refresh tokens, over real HTTP on loopback. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from '@connector-frame/engine/egress';
import { anyDatabase } from '../../../../test/support/databases.js';
import {
  createTestClock,
  createTestService,
  PUBLIC_URL,
  type Tenant,
  type TestService,
} from '../../../../test/support/service.js';
import { startOidcServer, type OidcServer } from '../../../../test/support/sign-in/oidc-provider.js';
import { pageClient, type PageClient } from '../../../../test/support/sign-in/page-client.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import { createOAuthClients } from './clients.js';

const TYPE = 'github-audit-logs';
const SECRET = 'personal_access_token';
const SETTINGS = { enterprise: 'acme', include: 'web' };
const CALLBACK = `${PUBLIC_URL}/v1/oauth/github/callback`;
const FORM = { 'sec-fetch-site': 'same-origin' };
const CONSENT_TTL_MS = 900_000;

const databases = anyDatabase();
let provider: OidcServer;
let vendor: Vendor;
let service: TestService;
let acme: Tenant;
let session: string;
let browser: PageClient;
/** Responds to the token endpoint instead of the provider. */
let tokenEndpoint: (() => Response) | undefined;
let tokenRequests: string[] = [];

/** Sends what is meant for GitHub to the provider and the vendor of this test. */
function redirectedEgress(): Egress {
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  return {
    ...egress,
    fetch(address, init) {
      const url = new URL(address);
      if (url.hostname === 'github.com') {
        tokenRequests.push(String(init?.body));
        return tokenEndpoint ? Promise.resolve(tokenEndpoint()) : egress.fetch(`${provider.issuer}/token`, init);
      }
      if (url.hostname === 'api.github.com') return egress.fetch(vendor.origin + url.pathname + url.search, init);
      throw new Error(`a request to ${url.hostname}`);
    },
  };
}

beforeAll(async () => {
  provider = await startOidcServer(CALLBACK, { authentication: 'client_secret_post', refresh: true });
  vendor = await startVendor(async ({ url, headers }) => {
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    if (!(await provider.isActive(token))) return { status: 401, body: { message: 'Bad credentials' } };
    return {
      body:
        url === '/user'
          ? { login: 'octocat' }
          : [{ _document_id: 'a', '@timestamp': Date.now(), action: 'team.create' }],
    };
  });
  const { clientId, clientSecret } = provider;
  const oauthClients = createOAuthClients([{ provider: 'github', client_id: clientId, client_secret: clientSecret }]);
  service = await createTestService({
    database: await databases.open(),
    egress: redirectedEgress(),
    clock: createTestClock(),
    settings: { oauthClients },
    run: { oauthClients },
  });
  acme = await service.tenant('Northwind');
});
afterAll(async () => {
  await service.close();
  await provider.close();
  await vendor.close();
  await databases.close();
});
beforeEach(async () => {
  browser = pageClient(service);
  session = await service.session(acme);
  tokenEndpoint = undefined;
  tokenRequests = [];
});

const local = (url: string): string => url.slice(PUBLIC_URL.length);
const atProvider = (url: string): string =>
  url.replace('https://github.com/login/oauth/authorize', `${provider.issuer}/auth`);

interface Started {
  id: string;
  url: string;
}

async function start(by = session, body: object = { kind: 'input', settings: SETTINGS }): Promise<Started> {
  const response = await service.call('POST', `/v1/oauth/${TYPE}/${acme.team}`, { session: by, body });
  expect(response.status).toBe(200);
  return response.body;
}

/** Opens the window, signs in, and returns the address that the provider sends the window back to. */
async function signIn(started: Started, client = browser, subject = 'octocat'): Promise<string> {
  const { leaves = '' } = await client.get(local(started.url), FORM);
  return provider.signIn(atProvider(leaves), subject);
}

const statusOf = async ({ id }: Started, by = session) => {
  const { status, body } = await service.call('GET', `/v1/oauth/${TYPE}/${acme.team}/${id}`, { session: by });
  return status === 200 ? body : status;
};

async function connect(): Promise<Started> {
  const started = await start();
  await browser.get(local(await signIn(started)));
  expect(await statusOf(started)).toEqual({ status: 'connected', account: 'octocat' });
  return started;
}

const save = ({ id }: Started, by = session, settings: object = SETTINGS) =>
  service.call('POST', `/v2/${acme.team}/inputs`, {
    session: by,
    body: { name: 'Logs', type: TYPE, config: { settings, secrets: { [SECRET]: { consent: id } } } },
  });

async function connected(): Promise<string> {
  const { body } = await save(await connect());
  tokenRequests = [];
  return body.id;
}

const testStored = (id: string) =>
  service.call('POST', `/v2/${acme.team}/inputs/test-connection`, {
    session,
    body: { type: TYPE, id, config: { settings: SETTINGS } },
  });

const read = async (id: string) => (await service.call('GET', `/v1/${acme.team}/inputs/${id}`, { key: acme.key })).body;

describe('connecting an account', () => {
  it('stores the tokens as a secret of the connector, and returns them in no response (S44)', async () => {
    const started = await start();
    const { leaves = '', headers } = await browser.get(local(started.url), FORM);
    const { origin, searchParams } = new URL(leaves);
    expect(origin).toBe('https://github.com');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'read:audit_log',
      code_challenge_method: 'S256',
    });
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-consent-[0-9a-f]+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure/,
    );
    expect(await statusOf(started)).toEqual({ status: 'pending' });

    const back = await provider.signIn(atProvider(leaves), 'octocat');
    const page = await browser.get(local(back));
    expect([page.status, page.html]).toEqual([200, expect.stringContaining('<h1>Account connected</h1>')]);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; form-action 'none'; frame-ancestors 'none'/,
    );
    expect(browser.cookies.size).toBe(0);

    const { status, body } = await save(started);
    expect(status).toBe(200);
    const account = { status: 'connected', name: 'octocat', connected_at: expect.any(String), needs_reauth_at: null };
    expect(body.config.secrets[SECRET]).toMatchObject({ account });
    expect((await testStored(body.id)).body).toMatchObject({ message: 'success' });

    const token = vendor.requests.at(-1)?.headers.authorization?.replace('Bearer ', '') ?? 'no token';
    const [row] = await service.store.secrets.ofConnector(body.id);
    const everything = [
      ...browser.responses,
      ...service.log,
      JSON.stringify(body),
      row?.sealed.toString('latin1'),
    ].join('\n');
    for (const secret of [token, provider.clientSecret]) expect(everything).not.toContain(secret);
    expect((await save(started)).body).toMatchObject({ error_type: 'consent_expired' });
  });

  it('is offered only where the operator registered a client, for sessions', async () => {
    const offer = (type: string, by: object) => service.call('GET', `/v1/oauth/${type}/${acme.team}`, by);
    expect((await offer(TYPE, { session })).body).toMatchObject({ provider: 'GitHub', secret: `/secrets/${SECRET}` });
    expect((await offer(TYPE, { key: acme.key })).status).toBe(200);
    expect((await offer('linear-issues', { session })).status).toBe(404);
    expect((await offer('okta-systemlog', { session })).status).toBe(404);
    const body = { kind: 'input', settings: SETTINGS };
    expect((await service.call('POST', `/v1/oauth/${TYPE}/${acme.team}`, { key: acme.key, body })).status).toBe(403);
    const other = await service.session(acme, { type_ids: ['okta-systemlog'] });
    expect((await service.call('POST', `/v1/oauth/${TYPE}/${acme.team}`, { session: other, body })).status).toBe(403);
  });

  it('is offered for an address that is left empty, if the vendor is there by default', async () => {
    const type = 'hubspot-audit-logs';
    const oauthClients = createOAuthClients([{ provider: 'hubspot', client_id: 'a', client_secret: 'b' }]);
    const { database, master, clock } = service;
    const hubspot = await createTestService({ database, master, clock, settings: { oauthClients } });
    const startAt = async (settings: object) => {
      const body = { kind: 'input', settings };
      return (await hubspot.call('POST', `/v1/oauth/${type}/${acme.team}`, { session, body })).status;
    };
    expect(await startAt({})).toBe(200);
    expect(await startAt({ url: 'https://api.hubapi.com' })).toBe(200);
    expect(await startAt({ url: 'https://evil.example' })).toBe(404);
  });

  it('ends without an account when the customer refuses, and stays pending when the window is closed', async () => {
    const refused = await start();
    const { leaves = '' } = await browser.get(local(refused.url), FORM);
    const page = await browser.get(local(await provider.cancel(atProvider(leaves))));
    expect(page.html).toContain('<h1>Not connected</h1>');
    expect(await statusOf(refused)).toEqual({ status: 'cancelled' });
    expect((await save(refused)).body).toMatchObject({ error_type: 'consent_expired' });

    const closed = await start();
    await browser.get(local(closed.url), FORM);
    expect(await statusOf(closed)).toEqual({ status: 'pending' });
    service.clock.advance(CONSENT_TTL_MS);
    session = await service.session(acme);
    expect(await statusOf(closed)).toBe(404);
  });
});

describe('attacks on the consent', () => {
  it('serves it to no other session, not even with its ID (S39)', async () => {
    const started = await connect();
    const other = await service.session(acme);
    expect(await statusOf(started, other)).toBe(404);
    expect((await save(started, other)).body).toMatchObject({ error_type: 'consent_expired' });
    const withKey = await service.call('POST', `/v2/${acme.team}/inputs`, {
      key: acme.key,
      body: {
        name: 'Logs',
        type: TYPE,
        config: { settings: SETTINGS, secrets: { [SECRET]: { consent: started.id } } },
      },
    });
    expect(withKey.body).toMatchObject({ error_type: 'consent_expired' });
    const elsewhere = await service.call('POST', `/v2/${acme.team}/inputs`, {
      session,
      body: { name: 'Copilot', type: 'github-copilot-logs', config: { secrets: { token: { consent: started.id } } } },
    });
    expect(elsewhere.status).not.toBe(200);
    expect((await save(started)).status).toBe(200);
  });

  it('opens a window once, and only for the form (S40)', async () => {
    const started = await start();
    for (const site of ['cross-site', 'same-site', 'none', undefined]) {
      const page = await browser.get(local(started.url), site === undefined ? {} : { 'sec-fetch-site': site });
      expect([page.status, page.leaves]).toEqual([400, undefined]);
    }
    expect((await browser.get(local(started.url), FORM)).leaves).toContain('https://github.com/');
    expect((await browser.get(local(started.url), FORM)).status).toBe(400);
    const forged = await browser.get('/v1/oauth/start?state=https://evil.example/', FORM);
    expect([forged.status, forged.leaves]).toEqual([400, undefined]);
  });

  it('redeems nothing in a browser that did not start, and then still in the one that did (S39)', async () => {
    const started = await start();
    const back = local(await signIn(started));
    const stranger = pageClient(service);
    expect((await stranger.get(back)).status).toBe(400);
    stranger.cookies.set([...browser.cookies.keys()][0] ?? '', 'guessed');
    expect((await stranger.get(back)).status).toBe(400);
    expect(tokenRequests).toEqual([]);
    expect((await browser.get(back)).status).toBe(200);
    expect(await statusOf(started)).toMatchObject({ status: 'connected' });
  });

  it('redeems a response once (S39)', async () => {
    const started = await start();
    const back = local(await signIn(started));
    const cookies = new Map(browser.cookies);
    await browser.get(back);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.get(back)).status).toBe(400);
    expect(tokenRequests).toHaveLength(1);
    expect(await statusOf(started)).toMatchObject({ status: 'connected' });
  });

  it('does not accept the code of another sign-in: PKCE binds it (S41)', async () => {
    const attacker = pageClient(service);
    const theirs = new URL(await signIn(await start(), attacker, 'mallory'));
    const started = await start();
    const mine = new URL(await signIn(started));
    mine.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    expect((await browser.get(local(mine.href))).html).toContain('Not connected');
    expect(await statusOf(started)).toEqual({ status: 'failed' });
  });

  it('does not accept a response at the address of another vendor (S41)', async () => {
    const started = await start();
    const back = local(await signIn(started));
    expect((await browser.get(back.replace('/github/', '/gitlab/'))).html).toContain('Not connected');
    expect(tokenRequests).toEqual([]);
  });

  it.each([
    '/v1/oauth/github/callback',
    '/v1/oauth/github/callback?state=a&state=b&code=c',
    '/v1/oauth/github/callback?code=c',
  ])('shows a page for %s and redeems nothing', async (path) => {
    expect((await browser.get(path)).html).toContain('This page has expired');
    expect(tokenRequests).toEqual([]);
  });

  it('does not send the tokens to another destination than the one that the account was connected for (S42)', async () => {
    const clients = createOAuthClients([{ provider: 'zendesk', client_id: 'a', client_secret: 'b' }]);
    const zendesk = await createTestService({
      database: service.database,
      master: service.master,
      clock: service.clock,
      settings: { oauthClients: clients },
    });
    const settings = { auth_type: 'oauth', sub_domain: 'acme' };
    const path = `/v1/oauth/zendesk-audit-logs/${acme.team}`;
    const given = { kind: 'input', settings };
    const { body } = await zendesk.call('POST', path, { session, body: given });
    const { leaves = '' } = await pageClient(zendesk).get(local(body.url), FORM);
    expect(leaves).toMatch(/^https:\/\/acme\.zendesk\.com\/oauth\/authorizations\/new\?/);
    const row = await service.store.consents.get(body.id);
    const sealed = service.vault.sealOwn(['consent', body.id], JSON.stringify({ accessToken: 'of-acme' }));
    await service.store.consents.advance(
      row?.id ?? '',
      'opened',
      { status: 'granted', sealed },
      new Date(service.clock.now()),
    );
    const saveAt = (sub_domain: string) =>
      zendesk.call('POST', `/v2/${acme.team}/inputs`, {
        session,
        body: {
          name: 'Audit',
          type: 'zendesk-audit-logs',
          config: { settings: { ...settings, sub_domain }, secrets: { token: { consent: body.id } } },
        },
      });
    expect((await saveAt('evil')).body).toMatchObject({ error_type: 'secret_reentry_required' });
    expect((await saveAt('acme')).status).toBe(200);
    const notConnectable = { kind: 'input', settings: { ...settings, auth_type: 'api_auth', email_address: 'a@b.c' } };
    expect((await zendesk.call('POST', path, { session, body: notConnectable })).status).toBe(404);
  });

  it("sends the secret of the operator's client to no host that a customer names (S43)", async () => {
    const addresses: readonly [type: string, settings: object, path: string][] = [
      ['zendesk-audit-logs', { auth_type: 'oauth', sub_domain: 'evil.example/' }, '/settings/sub_domain'],
      ['zendesk-audit-logs', { auth_type: 'oauth', sub_domain: 'evil.example#' }, '/settings/sub_domain'],
      ['zendesk-audit-logs', { auth_type: 'oauth' }, '/settings/sub_domain'],
      ['microsoft-entra-id', { sign_in: 'account', tenant_id: '../../evil' }, '/settings/tenant_id'],
      ...['https://evil.example', 'https://acme.my.salesforce.com.evil.example', 'https://a.my.salesforce.com:81'].map(
        (domain_url): [type: string, settings: object, path: string] => [
          'salesforce-users',
          { sign_in: 'account', domain_url },
          '/settings/domain_url',
        ],
      ),
    ];
    const oauthClients = createOAuthClients(
      addresses.map(([type_id]) => ({ type_id, client_id: 'a', client_secret: 'b' })),
    );
    const { database, master, clock } = service;
    const other = await createTestService({ database, master, clock, settings: { oauthClients } });
    for (const [type, settings, path] of addresses) {
      const body = { kind: 'input', settings };
      const started = await other.call('POST', `/v1/oauth/${type}/${acme.team}`, { session, body });
      const { error_type: code, additional_details: details } = started.body;
      expect([settings, started.status, code, details?.issues]).toEqual([
        settings,
        400,
        'invalid_config',
        [expect.objectContaining({ path })],
      ]);
    }
  });
});

describe('the tokens of a connected account', () => {
  const HOUR = 3_600_000;

  /** Advances the clock beyond the lifetime of a token, and gets a session of then. */
  async function later(milliseconds = HOUR): Promise<void> {
    service.clock.advance(milliseconds);
    session = await service.session(acme);
  }

  it('are refreshed when they expire, and each rotated refresh token is kept', async () => {
    const id = await connected();
    const seen = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      await later();
      expect((await testStored(id)).body).toMatchObject({ message: 'success' });
      seen.add(tokenRequests.at(-1) ?? '');
    }
    // The provider accepts each refresh token once.
    expect([seen.size, tokenRequests.length]).toEqual([3, 3]);
    expect((await read(id)).needs_reauth).toBeUndefined();
    // A connection test changes nothing that clients see.
    expect((await read(id)).version).toBe(1);
  });

  it('are not lost when the clock jumps back and forth', async () => {
    const id = await connected();
    service.clock.advance(-24 * HOUR);
    session = await service.session(acme);
    expect((await testStored(id)).status).toBe(200);
    await later(26 * HOUR);
    expect((await testStored(id)).status).toBe(200);
  });

  it('ask for the customer when the vendor has revoked them, until the account is connected again', async () => {
    const id = await connected();
    await provider.revokeAll();
    await later();
    const failed = await testStored(id);
    expect([failed.status, failed.body.error]).toEqual([400, expect.stringContaining('connect the account again')]);
    const { body: list } = await service.call('GET', `/v1/${acme.team}/inputs?limit=100`, { key: acme.key });
    expect(list.inputs.find((row: { id: string }) => row.id === id)).toMatchObject({
      needs_reauth: true,
      config: { secrets: { [SECRET]: { account: { status: 'needs_reauth', needs_reauth_at: expect.any(String) } } } },
    });
    const again = await start();
    await browser.get(local(await signIn(again)));
    const config = { secrets: { [SECRET]: { consent: again.id } } };
    const saved = await service.call('PATCH', `/v2/${acme.team}/inputs/${id}`, { session, body: { config } });
    expect(saved.body.needs_reauth).toBeUndefined();
    expect((await testStored(id)).status).toBe(200);
  });

  it('ask for the customer after a crash between the answer of the vendor and its storage', async () => {
    const id = await connected();
    // A token that the vendor has rotated is presented again, because its replacement was not stored.
    await later();
    await testStored(id);
    const lost = new URLSearchParams(tokenRequests.at(-1));
    await later();
    await testStored(id);
    expect((await provider.token(Object.fromEntries(lost))).status).toBe(400);
    await later();
    expect((await testStored(id)).status).toBe(400);
    expect((await read(id)).needs_reauth).toBe(true);
  });

  it.each([
    ['answers 400 to everything', () => new Response('no', { status: 400 })],
    ['is down', () => new Response('', { status: 503 })],
    ['rejects the client', () => Response.json({ error: 'invalid_client' }, { status: 401 })],
    ['answers 200 without a token', () => Response.json({})],
  ])('stay when the vendor %s', async (_what, answer) => {
    const id = await connected();
    await later();
    tokenEndpoint = answer;
    expect((await testStored(id)).status).toBe(400);
    expect((await read(id)).needs_reauth).toBeUndefined();
    tokenEndpoint = undefined;
    expect((await testStored(id)).status).toBe(200);
  });

  it('leave no account connected when the code is refused', async () => {
    const started = await start();
    const back = local(await signIn(started));
    tokenEndpoint = () => Response.json({ error: 'bad_verification_code' });
    expect((await browser.get(back)).html).toContain('Not connected');
    expect(await statusOf(started)).toEqual({ status: 'failed' });
  });

  it('are not shared with other connectors', async () => {
    const id = await connected();
    const { config } = await read(id);
    const { status, body } = await service.call('POST', `/v2/${acme.team}/inputs`, {
      key: acme.key,
      body: {
        name: 'Copy',
        type: TYPE,
        config: { settings: SETTINGS, secrets: { [SECRET]: { id: config.secrets[SECRET].id } } },
      },
    });
    expect([status, body.error_type]).toEqual([400, 'secret_not_allowed']);
  });
});

const make = async (path: string, body: object) =>
  (await service.call('POST', `/v2/${acme.team}/${path}`, { key: acme.key, body })).body;

/** Runs a pipeline from a connected account to nowhere. */
async function run(input_id: string): Promise<string> {
  const output = await make('outputs', { name: 'Nowhere', type: 'dev-null', config: {} });
  return (await make('integrations', { input_id, name: 'P', output: { id: output.id } })).pipeline_id;
}

const stateOf = async (id: string) =>
  (await service.call('GET', `/v2/${acme.team}/pipelines/${id}/status`, { key: acme.key })).body;

describe('a pipeline with a connected account', () => {
  it('refreshes a token that the vendor no longer accepts, and delivers', async () => {
    const id = await connected();
    await provider.revokeAccess(vendor.requests.at(-1)?.headers.authorization?.replace('Bearer ', '') ?? '');
    const pipeline = await run(id);
    await expect.poll(async () => (await stateOf(pipeline)).ingress?.records, { timeout: 20_000 }).toBe(1);
    expect(tokenRequests).toEqual([expect.stringContaining('grant_type=refresh_token')]);
    expect((await read(id)).needs_reauth).toBeUndefined();
  });

  it('is erroring and asks for the customer when the vendor has ended the account', async () => {
    const id = await connected();
    await provider.revokeAll();
    const pipeline = await run(id);
    await expect.poll(async () => (await stateOf(pipeline)).status, { timeout: 20_000 }).toBe('Erroring');
    expect(JSON.stringify(await stateOf(pipeline))).toContain('needs_reauth');
    expect((await read(id)).needs_reauth).toBe(true);
  });
});
