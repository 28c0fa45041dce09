/** Against an identity provider made with `samlify`: its parser reads the requests, its keys sign. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { createCertificate } from '../../../../test/support/certificate.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { listenHttp, type WebListener } from '../../../../test/support/listener.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';
import {
  pageClient,
  textOf,
  tokenIn,
  type PageClient,
  type Shown,
} from '../../../../test/support/sign-in/page-client.js';
import { createSamlIdp, type ResponseOptions, type SamlIdp } from '../../../../test/support/sign-in/saml-idp.js';
import { signedInUser } from '../../../../test/support/users.js';
import { bootstrap } from '../bootstrap.js';

const ENTITY = 'https://idp.acme.example';
const SIGN_ON = 'https://idp.acme.example/sign-on';

const databases = anyDatabase();
/** What the server of metadata responds with, by path. */
const documents = new Map<string, { status?: number; body: string; location?: string }>();
let web: WebListener;
let service: TestService;
let acme: Tenant;
let idp: SamlIdp;
let browser: PageClient;
/** TXT records, by name. */
const records = new Map<string, string>();

beforeAll(async () => {
  const certificate = createCertificate('127.0.0.1');
  web = await listenHttp(
    (request, response) => {
      const { status = 200, body, location } = documents.get(request.url ?? '') ?? { status: 404, body: '' };
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    },
    '127.0.0.1',
    certificate,
  );
  service = await createTestService({
    database: await databases.open(),
    egress: createEgress({ allow: ['127.0.0.0/8'], ca: certificate.cert }),
    settings: { signIn: { localAccounts: true, passwordCost: { logN: 4, r: 8, p: 1 } } },
    resolveTxt: (name) => {
      const value = records.get(name);
      return value === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve([['other'], [value]]);
    },
  });
  acme = await service.tenant('Acme');
  idp = createSamlIdp(ENTITY, SIGN_ON);
  documents.set('/acme', { body: idp.metadata });
});
afterAll(async () => {
  await service.store.close();
  await web.close();
  await databases.close();
});
beforeEach(() => {
  browser = pageClient(service);
});

const local = (url: string): string => url.slice(PUBLIC_URL.length);

const create = (body: object = {}, tenant = acme, credential: object = { key: tenant.key }) =>
  service.call('POST', `/v3/${tenant.id}/connections`, {
    ...credential,
    body: { name: 'Acme', saml: { entity_id: ENTITY, metadata_url: `${web.origin}/acme` }, ...body },
  });

/** Creates a connection of a new organization. */
async function connect(body: { email_domains?: string[]; [field: string]: unknown } = {}) {
  const tenant = await service.tenant(`tenant ${Math.random()}`);
  for (const domain of body.email_domains ?? []) records.set(`_connector-frame.${domain}`, tenant.id);
  const { status, body: connection, text } = await create(body, tenant);
  if (status !== 200) throw new Error(text);
  const id: string = connection.id;
  return { tenant, id };
}

const begin = (id: string, by = browser): Promise<Shown> => by.get(`/v1/login?connection_id=${id}`);
const metadataOf = async (id: string): Promise<string> => (await service.app.request(`/login/saml/${id}`)).text();

/** Responds to the request of a browser, as the provider makes the browser do it. */
async function respond(id: string, url: string, options: ResponseOptions = {}, provider = idp): Promise<string> {
  return provider.respond(url, await metadataOf(id), options);
}
const post = (id: string, SAMLResponse: string, by = browser) =>
  by.crossSitePost(`/login/saml/${id}/acs`, { SAMLResponse, RelayState: '' });

async function signInAs(id: string, options: ResponseOptions = {}, provider = idp): Promise<Shown> {
  const { leaves = '' } = await begin(id);
  return post(id, await respond(id, leaves, options, provider));
}

const invite = (tenant: Tenant, email: string, role_id = 'reader', org = tenant.id) =>
  service.call('POST', `/v1/${org}/invites`, { key: tenant.key, body: { email, role_id } });
const whoAmI = (user: string, org: string) => service.call('GET', `/v1/users?organization_id=${org}`, { user });

describe('a connection', () => {
  it('needs proof of its domains, except from the operator', async () => {
    const { status, body } = await create({ email_domains: ['acme.example'] });
    expect([status, body.additional_details.issues]).toEqual([
      400,
      [
        {
          path: '/email_domains',
          message: `No TXT record _connector-frame.acme.example with the value ${acme.id}.`,
        },
      ],
    ]);
    records.set('_connector-frame.acme.example', 'another organization');
    expect((await create({ email_domains: ['acme.example'] })).status).toBe(400);
    records.set('_connector-frame.acme.example', acme.id);
    const made = await create({ email_domains: ['Acme.Example'], session_settings: { session_timeout: 3_600 } });
    expect(made.body).toMatchObject({
      type: 'saml',
      name: 'Acme',
      public_name: expect.stringMatching(/^sso-[0-9a-f]{8}$/),
      email_domains: ['acme.example'],
      saml_entity_id: ENTITY,
      session_settings: { session_timeout: 3_600 },
      default_role_id: null,
      service_provider: { acs_url: `${PUBLIC_URL}/login/saml/${made.body.id}/acs` },
    });
    const log = await service.call('GET', `/v3/${acme.id}/audit_logs?resource_type=connection`, { key: acme.key });
    expect(log.body.logs).toMatchObject([{ action: 'insert', resource: { id: made.body.id, old: null } }]);
    const { store, vault: secrets, clock } = service;
    const operator = await bootstrap({ store, secrets, clock }, { organization: 'Operator' });
    const tenant = { id: operator.organizationId, key: operator.apiKey, team: '' };
    expect((await create({ email_domains: ['unproven.example'] }, tenant)).status).toBe(200);
  });

  it('needs every permission, because its provider signs in as any of its users', async () => {
    const { tenant, id } = await connect();
    const ana = await signedInUser(service, tenant.id, 'contributor');
    const permission_ids = ['connection:read', 'connection:write', 'connection:delete'];
    const role = await service.call('POST', `/v2/${tenant.id}/roles`, {
      key: tenant.key,
      body: { name: 'R', permission_ids },
    });
    const path = `/v1/${tenant.id}/users/${ana.id}`;
    await service.call('PATCH', path, { key: tenant.key, body: { role_id: role.body.id } });
    const user = ana.token;
    const change = (body: object) => service.call('PATCH', `/v3/${tenant.id}/connections/${id}`, { user, body });
    expect((await create({}, tenant, { user })).status).toBe(403);
    expect((await change({ saml: { metadata_url: `${web.origin}/acme` } })).status).toBe(403);
    expect((await change({ default_role_id: 'admin' })).status).toBe(403);
    expect((await change({ public_name: 'Acme SSO' })).body).toMatchObject({ public_name: 'Acme SSO', name: 'Acme' });
    expect((await change({ saml: { entity_id: 'x' } })).status).toBe(400);
    expect((await change({ email_domains: ['x.example'] })).status).toBe(400);
  });

  it('is created only with metadata that describes its provider', async () => {
    const bad: Record<string, { status?: number; body: string; location?: string }> = {
      'responds with status 500': { status: 500, body: idp.metadata },
      'not XML': { body: '{"issuer":"x"}' },
      'document type': { body: `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${idp.metadata}` },
      'does not describe the entity_id': { body: idp.metadata.replaceAll(ENTITY, 'https://other.example') },
      expired: {
        body: idp.metadata.replace('<EntityDescriptor ', '<EntityDescriptor validUntil="2020-01-01T00:00:00Z" '),
      },
      'no certificate': { body: idp.metadata.replaceAll(/<ds:X509Certificate>[^<]+/g, '<ds:X509Certificate>AAAA') },
      'no SingleSignOnService': { body: idp.metadata.replaceAll(SIGN_ON, 'http://idp.acme.example/sign-on') },
      'redirects to another address': { status: 302, body: '', location: 'https://evil.example/' },
      'larger than 1 MiB': { body: `${idp.metadata}${' '.repeat(1_100_000)}` },
    };
    for (const [reason, document] of Object.entries(bad)) {
      documents.set('/bad', document);
      const saml = { entity_id: ENTITY, metadata_url: `${web.origin}/bad` };
      const { status, body } = await create({ saml });
      expect([reason, status, body.error]).toEqual([reason, 400, expect.stringContaining(reason)]);
    }
    for (const metadata_url of ['http://idp.acme.example/', 'file:///etc/passwd', 'https://user:x@idp.acme.example/'])
      expect((await create({ saml: { entity_id: ENTITY, metadata_url } })).status).toBe(400);
  });

  it('reads its metadata through the egress guard', async () => {
    const guarded = await createTestService({ database: service.database, master: service.master });
    const before = web.connections();
    for (const host of ['127.0.0.1', '169.254.169.254', '[::1]', 'localhost']) {
      const saml = { entity_id: ENTITY, metadata_url: `https://${host}:${web.port}/acme` };
      const answer = await guarded.call('POST', `/v3/${acme.id}/connections`, {
        key: acme.key,
        body: { name: 'X', saml },
      });
      expect([host, answer.status, answer.body.error]).toEqual([host, 400, expect.stringContaining('EGRESS_ALLOW')]);
    }
    expect(web.connections()).toBe(before);
  });
});

describe('a sign-in through a connection', () => {
  it('is chosen by the domain of the address, and gives the invited role', async () => {
    const { tenant, id } = await connect({ email_domains: ['routed.example'] });
    await invite(tenant, 'ana@routed.example', 'contributor');
    await browser.get('/v1/login');
    const { leaves = '' } = await browser.submit('/login', { email: 'Ana@Routed.example' });
    expect(new URL(leaves).origin).toBe(new URL(SIGN_ON).origin);
    const done = await post(id, await respond(id, leaves, { email: 'ana@routed.example' }));
    expect([done.status, textOf(done.html, 'h1')]).toEqual([200, 'You are signed in']);
    const { body } = await whoAmI(tokenIn(done.html), tenant.team);
    expect(body).toMatchObject({
      email: 'ana@routed.example',
      auth_provider: { provider: 'saml', provider_id: 'ana-1' },
      organization_role: { role_id: 'contributor', inherited: true, source_organization_id: tenant.id },
    });
    const list = await service.call('GET', `/v1/${tenant.id}/users`, { key: tenant.key });
    expect(list.body.users).toMatchObject([{ id: body.id, connection_id: id, auth_provider: { connection_id: id } }]);
    const again = tokenIn((await signInAs(id, { email: 'ana@routed.example' })).html);
    expect((await whoAmI(again, tenant.id)).body.id).toBe(body.id);
  });

  it('gives the default role without an invitation, and none without a default role', async () => {
    const open = await connect({ default_role_id: 'reader' });
    const token = tokenIn((await signInAs(open.id)).html);
    expect((await whoAmI(token, open.tenant.id)).body.organization_role.role_id).toBe('reader');
    const closed = await connect();
    const page = await signInAs(closed.id);
    expect([page.status, page.html]).toEqual([403, expect.stringContaining('You have no account here')]);
    const rows = await service.call('GET', `/v3/${open.tenant.id}/audit_logs?resource_type=user`, {
      key: open.tenant.key,
    });
    expect(rows.body.logs[0]).toMatchObject({
      action: 'insert',
      request_id: expect.stringMatching(/./),
      actor: { auth_method: 'saml', email: 'ana@acme.example' },
    });
  });

  it('accepts an invitation to a team of the organization, by its link', async () => {
    const { tenant, id } = await connect({ email_domains: ['linked.example'] });
    const { body: link } = await invite(tenant, 'ana@linked.example', 'admin', tenant.team);
    await browser.get(local(link));
    const { leaves = '' } = await browser.submit('/login/invitation', {});
    const done = await post(id, await respond(id, leaves, { email: 'ana@linked.example' }));
    const { body } = await whoAmI(tokenIn(done.html), tenant.team);
    expect(body.organization_role).toMatchObject({ role_id: 'admin', inherited: false });
    expect((await whoAmI(tokenIn(done.html), tenant.id)).status).toBe(403);
  });

  it('ends after session_timeout, or when the provider says so', async () => {
    const { tenant, id } = await connect({ default_role_id: 'reader', session_settings: { session_timeout: 600 } });
    const short = tokenIn((await signInAs(id)).html);
    // The provider has the clock of the machine.
    const sessionEnd = service.clock.now() + 120_000 - Date.now();
    const provider = tokenIn((await signInAs(id, { nameId: 'bo', email: 'bo@x.example', sessionEnd })).html);
    const statuses = async () =>
      Promise.all([short, provider].map(async (token) => (await whoAmI(token, tenant.id)).status));
    expect(await statuses()).toEqual([200, 200]);
    service.clock.advance(125_000);
    expect(await statuses()).toEqual([200, 401]);
    service.clock.advance(475_000);
    expect(await statuses()).toEqual([401, 401]);
    const rows = await service.database.script((run) =>
      run(`select extract(epoch from expires_at - created_at)::int as seconds from sign_ins order by created_at desc`),
    );
    expect(rows.map(({ seconds }) => Number(seconds))).toContain(600);
  });

  it('offers the connections of a domain by their public names', async () => {
    const one = await connect({ email_domains: ['shared.example'], public_name: 'Acme <b>Europe</b>' });
    const two = await connect({ email_domains: ['shared.example'], public_name: 'Acme US' });
    await browser.get('/v1/login');
    const page = await browser.submit('/login', { email: 'x@shared.example' });
    expect(textOf(page.html, 'h1')).toBe('Choose where to sign in');
    expect(page.html).toContain('Acme &lt;b&gt;Europe&lt;/b&gt;');
    expect(page.html).toContain(`value="${one.id}"`);
    const left = await browser.submit('/login/connection', { connection: two.id });
    expect(left.leaves).toContain(SIGN_ON);
    const other = await connect();
    await browser.get('/login');
    expect((await browser.submit('/login/connection', { connection: other.id })).status).toBe(400);
  });

  it('follows a change of the keys of the provider', async () => {
    const { id } = await connect({ default_role_id: 'reader' });
    const renewed = createSamlIdp(ENTITY, SIGN_ON);
    expect((await signInAs(id, {}, renewed)).status).toBe(400);
    documents.set('/acme', { body: renewed.metadata });
    expect((await signInAs(id, {}, renewed)).status).toBe(400);
    service.clock.advance(300_000);
    expect((await signInAs(id, {}, renewed)).status).toBe(200);
    expect((await signInAs(id)).status).toBe(400);
    documents.set('/acme', { body: idp.metadata });
    service.clock.advance(12 * 3_600_000);
    expect((await signInAs(id)).status).toBe(200);
  });
});

const withoutSignature = (xml: string) => xml.replaceAll(/<ds:Signature[^]*?<\/ds:Signature>/g, '');
const assertionIn = (xml: string) => /<saml:Assertion[^]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
const evil = (xml: string) => xml.replace('ana@acme.example', 'boss@acme.example').replace('>ana-1<', '>boss<');
const split = (xml: string) => xml.replace('>boss-ana<', '>boss<!-- -->-ana<');

describe('a response is refused', () => {
  let id: string;
  beforeAll(async () => {
    ({ id } = await connect({ default_role_id: 'admin' }));
  });

  const cases: Record<string, ResponseOptions> = {
    'without a signature': { tamper: withoutSignature },
    'with a changed address': { tamper: evil },
    'with a changed signature': { tamper: (xml) => xml.replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA') },
    'for another audience': { audience: 'https://other.example' },
    'for another recipient': { recipient: 'https://other.example/acs' },
    'of another issuer': { issuer: 'https://other.example' },
    'that is not valid yet': { notBefore: 120_000 },
    'that has expired': { notOnOrAfter: -120_000 },
    'to another request': { inResponseTo: '_another' },
    'to no request': { inResponseTo: '' },
    'with a transient subject': { nameIdFormat: '2.0:nameid-format:transient' },
    'without a subject': { nameId: '' },
    'with a document type': { tamper: (xml) => `<!DOCTYPE x>${xml}` },
    'that is no XML': { tamper: () => 'x' },
    'with a second assertion before the signed one': {
      tamper: (xml) => xml.replace('<saml:Assertion', `${evil(withoutSignature(assertionIn(xml)))}<saml:Assertion`),
    },
    'with a second assertion after the signed one': {
      tamper: (xml) => xml.replace('</samlp:Response>', `${evil(withoutSignature(assertionIn(xml)))}</samlp:Response>`),
    },
    'that wraps the signed assertion': {
      tamper: (xml) => {
        const signed = assertionIn(xml);
        const wrapper = evil(withoutSignature(signed)).replace(/ ID="[^"]+"/, ' ID="_evil"');
        return xml.replace(
          signed,
          wrapper.replace('<saml:Subject>', `<saml:Advice>${signed}</saml:Advice><saml:Subject>`),
        );
      },
    },
    'with the signature of the assertion on a wrapper': {
      tamper: (xml) => {
        const signed = assertionIn(xml);
        const signature = /<ds:Signature[^]*?<\/ds:Signature>/.exec(signed)?.[0] ?? '';
        const wrapper = evil(withoutSignature(signed)).replace(/ ID="[^"]+"/, ' ID="_evil"');
        return xml.replace(
          signed,
          wrapper
            .replace('<saml:Subject>', `${signature}<saml:Subject>`)
            .replace('</saml:Assertion>', `${signed}</saml:Assertion>`),
        );
      },
    },
  };

  it.each(Object.entries(cases))('%s', async (_name, options) => {
    const page = await signInAs(id, options);
    expect(page.status).toBe(400);
    expect(page.html).not.toContain('Access token');
  });

  it('or its subject is read as a whole, with a comment that the signature does not cover', async () => {
    const { tenant, id: other } = await connect({ default_role_id: 'reader' });
    const done = await signInAs(other, { nameId: 'boss-ana', tamper: split });
    const { body } = await whoAmI(tokenIn(done.html), tenant.id);
    expect(body.auth_provider.provider_id).toBe('boss-ana');
  });

  it('signed by another key, or with SHA-1', async () => {
    const other = createSamlIdp(ENTITY, SIGN_ON);
    expect((await signInAs(id, {}, other)).status).toBe(400);
    const old = createSamlIdp(ENTITY, SIGN_ON, { usesSha1: true });
    documents.set('/old', { body: old.metadata });
    const saml = { entity_id: ENTITY, metadata_url: `${web.origin}/old` };
    const weak = await connect({ saml, default_role_id: 'reader' });
    expect((await signInAs(weak.id, {}, old)).status).toBe(400);
  });

  it('a second time, in any browser', async () => {
    const { leaves = '' } = await begin(id);
    const cookies = new Map(browser.cookies);
    const response = await respond(id, leaves);
    expect((await post(id, response)).status).toBe(200);
    expect((await post(id, response)).status).toBe(400);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await post(id, response)).status).toBe(400);
    expect((await post(id, response, pageClient(service))).status).toBe(400);
  });

  it('in a browser that did not ask for it (login CSRF)', async () => {
    const attacker = pageClient(service);
    const { leaves = '' } = await begin(id, attacker);
    const response = await respond(id, leaves);
    await begin(id);
    const page = await post(id, response);
    expect([page.status, page.html]).toEqual([400, expect.stringContaining('Start again')]);
    const nobody = await post(id, await respond(id, (await begin(id, attacker)).leaves ?? ''), pageClient(service));
    expect(nobody.status).toBe(400);
  });

  it('for a connection of another organization with the same provider', async () => {
    const other = await connect({ default_role_id: 'admin' });
    const { leaves = '' } = await begin(id);
    const response = await respond(id, leaves);
    await begin(other.id);
    expect((await post(other.id, response)).status).toBe(400);
    expect((await post('unknown', response)).status).toBe(400);
  });
});

describe('the provider of an organization', () => {
  it('reaches no user of another organization, whatever address it sends', async () => {
    const victim = await service.tenant('Victim');
    const boss = await signedInUser(service, victim.id, 'admin', 'boss@victim.example');
    const attacker = await connect({ default_role_id: 'admin' });
    const done = await signInAs(attacker.id, { nameId: boss.id, email: boss.email });
    const token = tokenIn(done.html);
    const mine = await whoAmI(token, attacker.tenant.id);
    expect([mine.status, mine.body.email, mine.body.id === boss.id]).toEqual([200, boss.email, false]);
    expect((await whoAmI(token, victim.id)).status).toBe(403);
    expect((await service.call('GET', `/v1/${victim.id}/inputs`, { user: token })).status).toBe(404);
    expect((await whoAmI(boss.token, attacker.tenant.id)).status).toBe(403);
  });

  it('is not believed about addresses of other domains, and cannot take a domain', async () => {
    const { id, tenant } = await connect({ email_domains: ['mine.example'], default_role_id: 'admin' });
    const page = await signInAs(id, { email: 'boss@victim.example' });
    expect([page.status, page.html]).toEqual([403, expect.stringContaining('another organization')]);
    expect((await create({ email_domains: ['victim.example'] }, tenant)).status).toBe(400);
    await browser.get('/v1/login');
    const shown = await browser.submit('/login', { email: 'boss@victim.example' });
    expect(textOf(shown.html, 'h1')).toBe('Enter your password');
  });

  it('cannot accept invitations of other organizations', async () => {
    const other = await service.tenant('Inviting');
    const { body: link } = await invite(other, 'ana@acme.example', 'admin');
    const { id } = await connect({ default_role_id: 'reader' });
    await browser.get(local(link));
    const cookies = new Map(browser.cookies);
    const { leaves = '' } = await begin(id);
    expect(cookies.size).toBe(1);
    const done = await post(id, await respond(id, leaves));
    expect((await whoAmI(tokenIn(done.html), other.id)).status).toBe(403);
  });

  it('keeps its users apart: a second subject does not get the account of an address', async () => {
    const { id } = await connect({ default_role_id: 'reader' });
    expect((await signInAs(id, { nameId: 'one' })).status).toBe(200);
    expect((await signInAs(id, { nameId: 'two' })).status).toBe(403);
  });

  it('ends with its connection, and with it the sign-ins and users', async () => {
    const { tenant, id } = await connect({ default_role_id: 'admin' });
    const token = tokenIn((await signInAs(id)).html);
    const path = `/v3/${tenant.id}/connections/${id}`;
    const own = await service.call('DELETE', path, { user: token });
    expect([own.status, own.body.error]).toEqual([409, expect.stringContaining('No administrator')]);
    expect((await service.call('DELETE', path, { key: tenant.key })).status).toBe(204);
    expect((await whoAmI(token, tenant.id)).status).toBe(401);
    expect((await service.call('GET', path, { key: tenant.key })).status).toBe(404);
    expect((await begin(id)).status).toBe(404);
  });
});

it('writes no assertion, address or ticket into the log', () => {
  const log = service.log.join('\n');
  expect(log).toContain('sign-in failed');
  for (const text of ['@acme.example', 'ana-1', 'ticket=', 'saml:', 'PHNhbWw', 'SAMLRequest'])
    expect([text, log.includes(text)]).toEqual([text, false]);
});
