import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const jqConfig = (query: string) => ({ operations: [{ operation: 'jq', arguments: { query } }] });

const encrypt = (id: string) => ({
  operations: [{ operation: 'encrypt', arguments: { key: 'a' }, secrets: { encryption_key: { id } } }],
});

describe.each(eachDatabase())('transforms on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.call(method, `/v2/${acme.team}/${path}`, {
      key: acme.key,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const connector = async (kind: 'input' | 'output') =>
    (await send('POST', `${kind}s`, exampleBody(typeOf(kind, kind === 'input' ? 'demo' : 'dev-null')))).body.id;
  const drop = { operation: 'drop_key', arguments: { key: 'raw' } };

  it('creates, lists, changes and deletes a transform', async () => {
    const config = { operations: [{ operation: 'rename', arguments: { key: 'a.b', new_key: 'c' } }, drop] };
    const made = await send('POST', 'transforms', { name: ' Tidy ', config });
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"v1"']);
    expect(made.body).toEqual({
      id: expect.any(String),
      organization_id: acme.team,
      name: 'Tidy',
      description: '',
      config,
      managed_by: 'customer',
      references: { secrets: [] },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
    });
    const path = `transforms/${made.body.id}`;
    expect((await send('GET', path)).body).toEqual({ ...made.body, component_of: [] });
    expect((await send('GET', path, undefined, { 'if-none-match': '"v1"' })).status).toBe(304);
    expect((await send('GET', 'transforms?limit=1')).body).toEqual({
      transforms: [made.body],
      pagination: { limit: 1, offset: 0, total: 1 },
    });
    const renamed = await send('PATCH', path, { name: 'Other' }, { 'if-match': '"v1"' });
    expect(renamed.body).toMatchObject({ name: 'Other', config: made.body.config, version: 2 });
    expect((await send('PATCH', path, { name: 'Late' }, { 'if-match': '"v1"' })).status).toBe(412);
    const changed = await send('PATCH', path, { config: { operations: [drop] } });
    expect(changed.body).toMatchObject({ name: 'Other', config: { operations: [drop] }, version: 3 });
    expect(await send('DELETE', path)).toMatchObject({ status: 200, body: { id: made.body.id } });
    expect([(await send('GET', path)).status, (await send('DELETE', path)).status]).toEqual([404, 404]);
  });

  it.each(['v1', 'v2'])('stores and returns a transform exactly as it was given, under /%s', async (version) => {
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, `/${version}/${acme.team}/${path}`, { key: acme.key, ...(body ? { body } : {}) });
    const config = {
      operations: [
        { operation: 'utc_timestamp', arguments: { key: 'time', format: 'RFC3339' }, description: 'When it was seen' },
        { operation: 'flattenall', arguments: { delimiter: '.' } },
        { operation: 'flatten', arguments: { key: 'user' } },
        { operation: 'jq', arguments: { query: 'select(.a)', prevent_data_dropping: true } },
        { operation: 'jq', arguments: { key: '', query: '.', prevent_data_dropping: false } },
        { operation: 'mask', arguments: { key: 'user', mode: { type: 'PARTIAL', keep_last: 2 } }, secrets: {} },
        {
          operation: 'convert_timestamp',
          arguments: { source_key: 'time', target_format: 'unix', target_timezone: '' },
        },
      ],
      conditions: { operator: 'and', conditions: [{ type_id: 'key_exists', config: { key: 'a' } }] },
      else_action: 'drop',
    };
    const made = await call('POST', 'transforms', { name: 'As given', config });
    expect([made.status, made.body.config]).toEqual([version === 'v1' ? 200 : 201, config]);
    const path = `transforms/${made.body.id}`;
    expect((await call('GET', path)).body.config).toEqual(config);
    const again = await call('PATCH', path, { name: 'As given', config });
    expect(again.body.config).toEqual(config);
    expect((await call('GET', 'transforms?limit=100')).body.transforms).toContainEqual(again.body);
    expect((await call('DELETE', path)).status).toBe(200);
  });

  it('names what it does not know, and stores nothing without it', async () => {
    const operations = [
      { operation: 'drop_key', arguments: { key: 'a', keys: ['b'] } },
      { operation: 'jq', arguments: { query: '.', prevent_data_droping: true } },
      { operation: 'drop_key', arguments: { key: 'a' }, secrets: { other: {} }, note: '' },
      { operation: 'jq', arguments: { query: '.', prevent_data_dropping: 'yes' } },
    ];
    const refused = await send('POST', 'transforms', { name: 'x', config: { operations, conditions: {}, filter: {} } });
    expect(refused.status).toBe(422);
    expect(
      refused.body.additional_details.issues.map(({ path, code }: Record<string, string>) => [path, code]),
    ).toEqual([
      ['/config/filter', 'unknown'],
      ['/config/operations/0/arguments/keys', 'unknown'],
      ['/config/operations/1/arguments/prevent_data_droping', 'unknown'],
      ['/config/operations/2/note', 'unknown'],
      ['/config/operations/2/secrets/other', 'unknown'],
      ['/config/operations/3/arguments/prevent_data_dropping', 'type'],
      ['/config/conditions/operator', 'unknown'],
    ]);
  });

  const create = (config: object) => send('POST', 'transforms', { name: 'x', config });

  describe('with secrets', () => {
    const KEY = Buffer.alloc(32, 7).toString('base64');
    const secret = async (body: object = {}): Promise<string> =>
      (await send('POST', 'secrets', { name: 'Key', value: KEY, ...body })).body.id;

    it('refer to them, and are named by them', async () => {
      const id = await secret();
      const config = encrypt(id);
      const made = await send('POST', 'transforms', { name: 'Encrypts', config });
      expect([made.status, made.body.config], made.text).toEqual([201, config]);
      expect(made.body.references.secrets).toEqual([{ id, name: 'Key', organization_id: acme.team, shared: false }]);
      const shown = await send('GET', `secrets/${id}`);
      const transform = { id: made.body.id, kind: 'transform', type: 'transform', name: 'Encrypts' };
      expect(shown.body).toMatchObject({ transforms: [transform], destinations: [{ kind: 'transform' }] });
      const refused = await send('DELETE', `secrets/${id}`);
      expect([refused.status, refused.body.additional_details.transforms]).toEqual([
        409,
        [{ id: made.body.id, organization_id: acme.team, type: 'transform', name: 'Encrypts' }],
      ]);
      // The engine compares versions.
      expect((await send('PATCH', `secrets/${id}`, { value: Buffer.alloc(32, 8).toString('base64') })).status).toBe(
        200,
      );
      expect((await send('GET', `transforms/${made.body.id}`)).body.version).toBe(2);
      await send('DELETE', `transforms/${made.body.id}`);
      expect((await send('DELETE', `secrets/${id}`)).status).toBe(204);
    });

    it('are rejected if a secret is unknown, of no use or not for transforms', async () => {
      const unknown = await create(encrypt('some-secret'));
      expect(unknown.body.additional_details.issues).toMatchObject([
        { path: '/config/operations/0/secrets/encryption_key/id', code: 'unknown' },
      ]);
      const password = await create(encrypt(await secret({ value: 'too short' })));
      expect([password.status, password.body.error_type]).toEqual([422, 'invalid_transform']);
      const restricted = await create(encrypt(await secret({ destinations: [] })));
      expect([restricted.status, restricted.body.error_type]).toEqual([400, 'secret_not_allowed']);
      const listed = await create(encrypt(await secret({ destinations: [{ kind: 'transform' }] })));
      expect(listed.status, listed.text).toBe(201);
    });

    it('are tried with the value under the path of the organization only', async () => {
      const body = { config: encrypt(await secret()), record: { a: 'text' } };
      const tried = await send('POST', 'sandbox/transform', body);
      expect(tried.status, tried.text).toBe(200);
      expect(tried.body.records[0].a).toMatch(/^[A-Za-z0-9+/=]{40,}$/);
      const outside = await service.call('POST', '/v2/sandbox/transform', { key: acme.key, body });
      expect([outside.status, outside.body.additional_details.issues[0].code]).toEqual([422, 'not_supported']);
      const restricted = { ...body, config: encrypt(await secret({ destinations: [] })) };
      expect((await send('POST', 'sandbox/transform', restricted)).body.error_type).toBe('secret_not_allowed');
    });

    it('keep a value that they can use', async () => {
      const id = await secret();
      await send('POST', 'transforms', { name: 'Encrypts', config: encrypt(id) });
      const refused = await send('PATCH', `secrets/${id}`, { value: 'too short' });
      expect([refused.status, refused.body.error_type]).toEqual([400, 'invalid_config']);
      expect((await send('PATCH', `secrets/${id}`, { value: KEY, destinations: [] })).status).toBe(409);
    });
  });

  it('returns the path of each issue when creating and changing a transform', async () => {
    const { body: made } = await send('POST', 'transforms', { name: 'T', config: { operations: [] } });
    const config = { operations: [drop, { operation: 'explode' }, { operation: 'drop_key', arguments: {} }] };
    for (const answer of [
      await send('POST', 'transforms', { name: 'x', config }),
      await send('PATCH', `transforms/${made.id}`, { config }),
    ]) {
      expect(answer).toMatchObject({ status: 422, body: { error_type: 'invalid_transform' } });
      const { issues } = answer.body.additional_details;
      expect(issues.map(({ path }: { path: string }) => path)).toEqual([
        '/config/operations/1/operation',
        '/config/operations/2/arguments/key',
      ]);
    }
    expect((await send('POST', 'transforms', { name: 'x', config: {} })).status).toBe(400);
  });

  it('rejects an invalid jq program with its error', async () => {
    const made = await send('POST', 'transforms', { name: 'T', config: jqConfig('{user: .actor.email}') });
    expect(made).toMatchObject({ status: 201, body: { config: jqConfig('{user: .actor.email}') } });
    for (const [query, said] of [
      ['.a\n| nothing', 'Line 2: nothing/0 is not defined.'],
      ['.a | input', "input can't be used"],
    ] as const) {
      const refused = await send('PATCH', `transforms/${made.body.id}`, { config: jqConfig(query) });
      expect(refused).toMatchObject({ status: 422, body: { error_type: 'invalid_transform' } });
      const path = '/config/operations/0/arguments/query';
      expect(refused.body.additional_details.issues).toEqual([
        expect.objectContaining({ path, message: expect.stringContaining(said) }),
      ]);
    }
  });

  it('rejects the deletion of a transform in use, also with concurrent requests', async () => {
    const [input, output] = [await connector('input'), await connector('output')];
    for (let round = 0; round < 8; round += 1) {
      const { body: made } = await send('POST', 'transforms', { name: 'T', config: { operations: [] } });
      const ids = { input, transform: made.id, output };
      const pipeline = {
        name: 'Over it',
        nodes: Object.entries(ids).map(([slug, component_id]) => ({ slug, component_id, component_type: slug })),
        edges: [
          { from_node_instance_id: 'input', to_node_instance_id: 'transform' },
          { from_node_instance_id: 'transform', to_node_instance_id: 'output' },
        ],
      };
      const [built, gone] = await Promise.all([
        send('POST', 'pipelines', pipeline),
        send('DELETE', `transforms/${made.id}`),
      ]);
      expect([
        [201, 409],
        [400, 200],
      ]).toContainEqual([built.status, gone.status]);
      if (built.status === 201) {
        expect(gone.body.additional_details.pipelines).toMatchObject([{ id: built.body.id }]);
      }
    }
  });
});
