import { exampleConfig } from '@connector-frame/catalog';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asWrite, typeOf } from '../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';
import { openStored } from '../../../../test/support/stored-secrets.js';

const TOKEN = '00aVeryLongOktaTokenValue0001';
const NEXT = '00aVeryLongOktaTokenValue0002';
const OKTA = 'https://acme.okta.com';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const http = (id: string, endpoint = 'https://logs.acme.com/a') => ({
  name: 'HTTP',
  type: 'http',
  config: {
    settings: { endpoint, method: 'POST', payload_structure: 'array' },
    secrets: { auth_headers: { id } },
  },
});

describe.each(eachDatabase())('secrets on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let globex: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
    globex = await service.tenant('Globex');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const send = (method: string, path: string, body?: object, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body && { body }) });
  /** Creates a secret, by default one that connectors can send to destinations of their own. */
  async function secret(body: object = {}): Promise<string> {
    const made = await send('POST', '/v2/~/secrets', { name: 'Okta token', value: TOKEN, ...body });
    expect(made.status, made.text).toBe(201);
    return made.body.id;
  }
  const okta = (api_key: object, settings: object = {}) => ({
    name: 'Okta',
    type: 'okta-systemlog',
    config: { settings: { org_url: OKTA, ...settings }, secrets: { api_key } },
  });
  async function input(api_key: object, settings: object = {}): Promise<string> {
    const made = await send('POST', '/v2/~/inputs', okta(api_key, settings));
    expect(made.status, made.text).toBe(200);
    return made.body.id;
  }
  const valueIn = async (id: string) => (await openStored(service, acme.team, id))['api_key'];
  const edit = (id: string, config: object, key = acme.key) => send('PATCH', `/v2/~/inputs/${id}`, { config }, key);
  const createInSession = (session: string, body: object) =>
    service.call('POST', `/v2/${acme.team}/inputs`, { session, body, headers: { origin: PUBLIC_URL } });
  const script = (sql: string) => service.database.script((run) => run(sql));
  const refusal = async (id: string) => {
    const edited = await edit(id, { secrets: {} });
    return [edited.status, edited.body.error_type];
  };
  const restricted = { destinations: [{ kind: 'input', type: 'okta-systemlog', settings: { org_url: OKTA } }] };

  it('is created once, and names the connectors that use it', async () => {
    const id = await secret({ description: 'Rotated each March' });
    const inputs = [await input({ id }), await input({ id })];
    const shown = await send('GET', `/v2/~/secrets/${id}`);
    expect(shown.body).toEqual({
      id,
      organization_id: acme.team,
      name: 'Okta token',
      description: 'Rotated each March',
      share_details: { shared_with_me: false, shared_with_children: false },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      inputs: expect.toSatisfy((uses: unknown[]) => uses.length === 2),
      outputs: [],
      transforms: [],
      destinations: [{ kind: 'input', type: 'okta-systemlog', settings: expect.objectContaining({ org_url: OKTA }) }],
      restricted: false,
    });
    for (const each of inputs)
      expect(shown.body.inputs).toContainEqual({ id: each, kind: 'input', type: 'okta-systemlog', name: 'Okta' });
    const connector = (await send('GET', `/v1/~/inputs/${inputs[0]}`)).body;
    expect(connector.config.secrets.api_key).toMatchObject({ id, name: 'Okta token' });
    expect(connector.references.secrets).toEqual([
      { id, name: 'Okta token', organization_id: acme.team, shared: false },
    ]);
    expect(await valueIn(inputs[1] ?? '')).toBe(TOKEN);
  });

  it('holds a map of headers for an output', async () => {
    const id = await secret({ value: { Authorization: 'Bearer 1' } });
    const made = await send('POST', '/v2/~/outputs', http(id));
    expect(made.status, made.text).toBe(200);
    expect((await send('GET', `/v2/~/secrets/${id}`)).body.outputs).toHaveLength(1);
  });

  it('rotates for all connectors at once', async () => {
    const id = await secret();
    const inputs = [await input({ id }), await input({ id })];
    const versions = async () =>
      Promise.all(inputs.map(async (each) => (await send('GET', `/v1/~/inputs/${each}`)).body.version));
    const before = await versions();
    const rotated = await send('PATCH', `/v2/~/secrets/${id}`, { value: NEXT });
    expect(rotated.status, rotated.text).toBe(200);
    expect(rotated.text).not.toContain(NEXT);
    for (const each of inputs) expect(await valueIn(each)).toBe(NEXT);
    // The engine compares versions.
    expect(await versions()).toEqual(before.map((version: number) => version + 1));
  });

  it('keeps the value when it is renamed', async () => {
    const id = await secret();
    const used = await input({ id });
    const renamed = await send('PATCH', `/v2/~/secrets/${id}`, { name: 'Okta, production', description: 'EU' });
    expect(renamed.body).toMatchObject({ id, name: 'Okta, production', description: 'EU' });
    expect(await valueIn(used)).toBe(TOKEN);
  });

  it('refuses a value that a connector could not use', async () => {
    const id = await secret({ value: { Authorization: 'Bearer 1' } });
    await send('POST', '/v2/~/outputs', http(id));
    const text = await send('PATCH', `/v2/~/secrets/${id}`, { value: 'Bearer 2' });
    expect([text.status, text.body.error_type]).toEqual([400, 'invalid_config']);
    for (const value of ['', '••••••••', {}])
      expect((await send('PATCH', `/v2/~/secrets/${id}`, { value })).status).toBe(400);
    const other = await secret({ value: { a: 'b' } });
    const refused = await send('POST', '/v2/~/inputs', okta({ id: other }));
    expect([refused.status, refused.body.error_type]).toEqual([400, 'invalid_config']);
  });

  it('can be deleted only when nothing uses it', async () => {
    const id = await secret();
    const used = await input({ id });
    const refused = await send('DELETE', `/v2/~/secrets/${id}`);
    expect([refused.status, refused.body.additional_details]).toEqual([
      409,
      {
        inputs: [{ id: used, organization_id: acme.team, type: 'okta-systemlog', name: 'Okta' }],
        outputs: [],
        transforms: [],
        total: 1,
      },
    ]);
    await send('DELETE', `/v1/~/inputs/${used}`);
    expect((await send('DELETE', `/v2/~/secrets/${id}`)).status).toBe(204);
    expect((await send('GET', `/v2/~/secrets/${id}`)).status).toBe(404);
  });

  it('is not lost between a deletion and a connector that begins to use it', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const id = await secret();
      const [made, removed] = await Promise.all([
        send('POST', '/v2/~/inputs', okta({ id })),
        send('DELETE', `/v2/~/secrets/${id}`),
      ]);
      expect([
        [200, 409],
        [404, 204],
      ]).toContainEqual([made.status, removed.status]);
      if (made.status === 200) expect(await valueIn(made.body.id)).toBe(TOKEN);
    }
  });

  it('lists secrets that were entered in connectors, and rotates them', async () => {
    const fresh = await service.tenant('Initech');
    const path = `/v2/${fresh.team}`;
    const call = (method: string, at: string, body?: object) =>
      service.call(method, `${path}${at}`, { key: fresh.key, ...(body && { body }) });
    const made = await call('POST', '/inputs', okta({ value: TOKEN }));
    const { id } = made.body.config.secrets.api_key;
    await call('POST', '/secrets', { name: 'Second', value: TOKEN });
    const pages = [await call('GET', '/secrets?limit=1'), await call('GET', '/secrets?limit=1&offset=1')];
    expect(pages[0]?.body.pagination).toEqual({ limit: 1, offset: 0, total: 2 });
    const listed = pages.flatMap(({ body }) => body.secrets);
    expect(listed).toContainEqual(
      expect.objectContaining({ id, inputs: [expect.objectContaining({ id: made.body.id })] }),
    );
    expect(listed).toContainEqual(expect.objectContaining({ name: 'Second', inputs: [], outputs: [] }));

    expect((await call('GET', `/secrets/${id}`)).body).toMatchObject({
      restricted: true,
      destinations: [{ type: 'okta-systemlog', settings: { org_url: OKTA } }],
    });
    expect((await call('PATCH', `/secrets/${id}`, { value: NEXT })).status).toBe(200);
    expect((await openStored(service, fresh.team, made.body.id))['api_key']).toBe(NEXT);
    expect((await call('DELETE', `/secrets/${id}`)).status).toBe(409);
  });

  it('of a connector is shared, not copied, with the next one that refers to it', async () => {
    const first = await input({ value: TOKEN });
    const { id } = (await send('GET', `/v1/~/inputs/${first}`)).body.config.secrets.api_key;
    const second = await input({ id });
    expect((await send('GET', `/v1/~/inputs/${second}`)).body.config.secrets.api_key.id).toBe(id);
    expect((await send('GET', `/v2/~/secrets/${id}`)).body.inputs).toHaveLength(2);
    await send('PATCH', `/v2/~/secrets/${id}`, { value: NEXT });
    expect([await valueIn(first), await valueIn(second)]).toEqual([NEXT, NEXT]);

    // A value that is entered in one of them is that connector's own.
    await edit(second, { secrets: { api_key: { value: `${TOKEN}x` } } });
    const after = (await send('GET', `/v1/~/inputs/${second}`)).body.config.secrets.api_key;
    expect(after.id).not.toBe(id);
    expect([await valueIn(first), await valueIn(second)]).toEqual([NEXT, `${TOKEN}x`]);
    const moved = await send('POST', '/v2/~/inputs', okta({ id }, { org_url: 'https://evil.example' }));
    expect([moved.status, moved.body.error_type]).toEqual([400, 'secret_not_allowed']);
  });

  it('needs a value and a name', async () => {
    for (const body of [{ name: 'a' }, { value: TOKEN }, { name: 'a', value: '' }, { name: 'a', value: TOKEN, x: 1 }])
      expect((await send('POST', '/v2/~/secrets', body)).status).toBe(400);
    for (const one of [
      { kind: 'input', type: 'no-such-type' },
      { kind: 'input', type: 'okta-systemlog', settings: { no_such: 1 } },
    ])
      expect((await send('POST', '/v2/~/secrets', { name: 'a', value: TOKEN, destinations: [one] })).status).toBe(400);
  });

  describe('destinations (S03, S32)', () => {
    it('of a list are all that a reference may have', async () => {
      const id = await secret(restricted);
      const used = await input({ id });
      const evil = { settings: { org_url: 'https://evil.example' } };
      const created = await send('POST', '/v2/~/inputs', okta({ id }, evil.settings));
      expect([created.status, created.body.error_type]).toEqual([400, 'secret_not_allowed']);
      const kept = await edit(used, { ...evil, secrets: {} });
      expect([kept.status, kept.body.error_type]).toEqual([422, 'secret_reentry_required']);
      const named = await edit(used, { ...evil, secrets: { api_key: { id } } });
      expect([named.status, named.body.error_type]).toEqual([400, 'secret_not_allowed']);
      const tested = await send('POST', '/v2/~/inputs/test-connection', {
        type: 'okta-systemlog',
        config: { ...evil, secrets: { api_key: { id } } },
      });
      expect([tested.status, tested.body.error_type]).toEqual([400, 'secret_not_allowed']);
      const other = await send('POST', '/v2/~/outputs', http(id, 'https://evil.example'));
      expect([other.status, other.body.error_type]).toEqual([400, 'secret_not_allowed']);
      expect((await send('GET', `/v2/~/secrets/${id}`)).body.destinations).toHaveLength(1);
    });

    it('are added only with the value', async () => {
      const id = await secret(restricted);
      const evil = { kind: 'input', type: 'okta-systemlog', settings: { org_url: 'https://evil.example' } };
      for (const destinations of [[evil], [...restricted.destinations, evil], null]) {
        const refused = await send('PATCH', `/v2/~/secrets/${id}`, { destinations });
        expect([refused.status, refused.body.error_type]).toEqual([422, 'secret_reentry_required']);
      }
      const widened = await send('PATCH', `/v2/~/secrets/${id}`, {
        value: NEXT,
        destinations: [...restricted.destinations, evil],
      });
      expect(widened.status, widened.text).toBe(200);
      await input({ id }, { org_url: 'https://evil.example' });
      // One that a connector uses can't be taken away.
      expect((await send('PATCH', `/v2/~/secrets/${id}`, restricted)).status).toBe(409);
    });

    it('are not added by a key without the permission', async () => {
      const id = await secret();
      const writer = await send('POST', `/v3/${acme.team}/api-keys`, { name: 'w', permissions: ['input:write'] });
      const { key } = writer.body;
      const refused = await send('POST', '/v2/~/inputs', okta({ id }), key);
      expect([refused.status, refused.body.error_type]).toEqual([400, 'secret_not_allowed']);
      await input({ id });
      expect((await send('POST', '/v2/~/inputs', okta({ id }), key)).status).toBe(200);
    });

    it('are not extended by a kept reference', async () => {
      const id = await secret();
      const used = await input({ id });
      const moved = await edit(used, { settings: { org_url: 'https://evil.example' }, secrets: {} });
      expect([moved.status, moved.body.error_type]).toEqual([422, 'secret_reentry_required']);
      const named = await edit(used, { settings: { org_url: 'https://eu.okta.com' }, secrets: { api_key: { id } } });
      expect(named.status, named.text).toBe(200);
      expect((await send('GET', `/v2/~/secrets/${id}`)).body.destinations).toHaveLength(2);
      const back = await edit(used, { settings: { org_url: OKTA }, secrets: {} });
      expect(back.status, back.text).toBe(200);
    });

    it('include the addresses that are secrets themselves', async () => {
      const { config } = typeOf('input', 'mongodb');
      const example = asWrite(exampleConfig(config, { optional: true }));
      const isAddress = (field: string) => config.secrets.properties[field]?.['x-destination'] === true;
      const [address, password] = [true, false].map((wanted) =>
        Object.keys(example.secrets).find((field) => isAddress(field) === wanted),
      );
      const id = await secret({ value: 'the-password' });
      const mongo = (uri: string) => ({
        name: 'Mongo',
        type: 'mongodb',
        config: { ...example, secrets: { [address ?? '']: { value: uri }, [password ?? '']: { id } } },
      });
      const made = await send('POST', '/v2/~/inputs', mongo('mongodb+srv://db.acme.com'));
      expect(made.status, made.text).toBe(200);
      const writer = await send('POST', `/v3/${acme.team}/api-keys`, { name: 'w', permissions: ['input:write'] });
      const create = (uri: string) => send('POST', '/v2/~/inputs', mongo(uri), writer.body.key);
      const moved = await create('mongodb+srv://evil.example');
      expect([moved.status, moved.body.error_type]).toEqual([400, 'secret_not_allowed']);
      expect((await create('mongodb+srv://db.acme.com')).status).toBe(200);
      const shown = await send('GET', `/v2/~/secrets/${id}`);
      expect(shown.text).not.toContain('db.acme.com');

      // An address can't be shared itself: its next value would send all other secrets elsewhere.
      const uri = await secret({ value: 'mongodb+srv://db.acme.com' });
      const body = mongo('');
      const shared = { ...body, config: { ...body.config, secrets: { [address ?? '']: { id: uri } } } };
      expect((await send('POST', '/v2/~/inputs', shared)).body.error_type).toMatch(/secret_not_allowed|invalid_config/);
    });
  });

  describe('sessions', () => {
    it('cannot refer to a secret that their host did not name', async () => {
      const id = await secret(restricted);
      expect((await createInSession(await service.session(acme), okta({ id }))).status).toBe(404);
      const token = await service.session(acme, { secret_ids: [id] });
      const allowed = await createInSession(token, okta({ id }));
      expect(allowed.status, allowed.text).toBe(200);
      const moved = await createInSession(token, okta({ id }, { org_url: 'https://evil.example' }));
      expect([moved.status, moved.body.error_type]).toEqual([400, 'secret_not_allowed']);
    });

    it('add no destination', async () => {
      const id = await secret();
      const refused = await createInSession(await service.session(acme, { secret_ids: [id] }), okta({ id }));
      expect([refused.status, refused.body.error_type]).toEqual([400, 'secret_not_allowed']);
    });

    it('cannot read or change secrets', async () => {
      const id = await secret();
      const token = await service.session(acme, { secret_ids: [id] });
      for (const [method, path] of [
        ['GET', ''],
        ['GET', `/${id}`],
        ['PATCH', `/${id}`],
        ['DELETE', `/${id}`],
      ] as const)
        expect((await service.call(method, `/v2/${acme.team}/secrets${path}`, { session: token })).status).toBe(403);
    });

    it('are not created for the secrets of others', async () => {
      const id = await secret();
      const foreign = await service.call('POST', '/v3/sessions', {
        key: globex.key,
        body: { organization_id: globex.team, secret_ids: [id] },
      });
      expect(foreign.status).toBe(404);
    });
  });

  it('of another organization is unknown', async () => {
    const id = await secret();
    const path = `/v2/${globex.team}/secrets/${id}`;
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const body = method === 'PATCH' ? { body: { value: NEXT } } : {};
      expect((await service.call(method, path, { key: globex.key, ...body })).status).toBe(404);
    }
    const referred = await service.call('POST', `/v2/${globex.team}/inputs`, { key: globex.key, body: okta({ id }) });
    const unknown = await service.call('POST', `/v2/${globex.team}/inputs`, {
      key: globex.key,
      body: okta({ id: UNKNOWN }),
    });
    expect([referred.status, referred.body]).toEqual([404, unknown.body]);
  });

  describe('rows that were changed outside of the service (S33)', () => {
    it.each([
      ['other destinations', `update organization_secrets set destinations = '[]' where id = '~'`],
      ['an open list', `update organization_secrets set restricted = not restricted where id = '~'`],
      ['another value', `update organization_secrets set sealed = '\\x0200' where id = '~'`],
      ['a reference to another secret', `update secrets set secret_id = '^' where secret_id = '~'`],
      ['a reference without its secret', `update secrets set secret_id = null where secret_id = '~'`],
    ])('do not open with %s', async (_what, sql) => {
      const id = await secret();
      const used = await input({ id });
      const other = await secret({ value: NEXT });
      await script(sql.replaceAll('~', id).replaceAll('^', other));
      expect(await refusal(used)).toEqual([422, 'secret_unreadable']);
    });

    it('do not open at another destination', async () => {
      const id = await secret();
      const used = await input({ id });
      await script(
        `update connectors set settings = settings || '{"org_url":"https://evil.example"}' where id = '${used}'`,
      );
      expect(await refusal(used)).toEqual([422, 'secret_destination_mismatch']);
    });

    it('do not open for a connector that the reference was not made for', async () => {
      const id = await secret();
      const used = await input({ id });
      const other = await input({ id });
      await script(
        `update secrets set sealed = (select sealed from secrets where connector_id = '${used}') where connector_id = '${other}'`,
      );
      expect(await refusal(other)).toEqual([422, 'secret_unreadable']);
    });
  });

  it('goes with its organization', async () => {
    const fresh = await service.tenant('Hooli');
    const made = await service.call('POST', `/v2/${fresh.team}/secrets`, {
      key: fresh.key,
      body: { name: 'Okta token', value: TOKEN },
    });
    await service.call('POST', `/v2/${fresh.team}/inputs`, { key: fresh.key, body: okta({ id: made.body.id }) });
    const removed = await service.call('DELETE', `/v3/${fresh.id}/organizations/${fresh.team}`, { key: fresh.key });
    expect(removed.status, removed.text).toBe(204);
    const rows = await service.database.script((run) =>
      run(`select 1 from organization_secrets where id = '${made.body.id}'`),
    );
    expect(rows).toEqual([]);
  });
});
