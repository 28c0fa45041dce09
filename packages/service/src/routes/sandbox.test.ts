import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
  acme = await service.tenant('Northwind');
});
afterAll(() => service.store.close());

const get = (path: string) => service.call('GET', path, { key: acme.key });
const post = (path: string, body: unknown) => service.call('POST', path, { key: acme.key, body });

describe('the types of operations and conditions', () => {
  it('are listed with schemas that describe what a transform accepts', async () => {
    const { status, body } = await get('/v1/transforms');
    expect([status, body.length]).toEqual([200, 21]);
    expect(body.map((type: { type_id: string }) => type.type_id)).toContain('convert_cef');
    const one = await get('/v1/transforms/rename_key');
    expect(one).toMatchObject({
      status: 200,
      body: {
        type_id: 'rename_key',
        config: {
          arguments: {
            type: 'object',
            properties: { key: { type: 'string' }, new_key: { type: 'string' } },
            required: ['key', 'new_key'],
            additionalProperties: false,
          },
        },
      },
    });
    expect(body).toContainEqual(one.body);
    expect((await get('/v1/transforms/encrypt')).body.config.secrets.required).toEqual(['encryption_key']);
    expect((await get('/v1/transforms/explode')).status).toBe(404);
  });

  it('lists the conditions, and names their operators and rules as strings', async () => {
    const { body } = await get('/v2/conditions');
    const ids = body.map((type: { type_id: string }) => type.type_id);
    expect(body[0]).toMatchObject({ type_id: 'key_exists', config_meta: { required: ['key'] } });
    const operators = await get('/v3/pipeline_edges/edge_condition_operator_types');
    expect(JSON.parse(operators.body)).toEqual(['always', 'never', 'and', 'or', 'nor', 'xor']);
    expect(JSON.parse((await get('/v3/pipeline_edges/edge_condition_rules')).body)).toEqual(ids);
    for (const type_id of ids) {
      const config = { key: 'a', value: type_id.includes('than') ? 1 : 'x' };
      const tried = await post('/v2/sandbox/condition', { condition: { type_id, config }, record: { a: 'x' } });
      expect([type_id, tried.status]).toEqual([type_id, 200]);
    }
  });
});

const leaf = (value: string) => ({ type_id: 'equals', config: { key: 'user.name', value } });

describe('the sandbox', () => {
  const record = { user: { name: 'Ana', id: 7 }, note: 'x'.repeat(100) };
  const drop = { operation: 'drop_key', arguments: { key: 'note' } };

  it.each(['/v2/sandbox/transform', '/v2/{org}/sandbox/transform'])(
    'runs a transform and saves nothing: %s',
    async (template) => {
      const path = template.replace('{org}', acme.team);
      const config = { operations: [drop, { operation: 'jq', arguments: { query: '.user | ., .' } }] };
      const before = JSON.stringify(record).length;
      const after = 2 * JSON.stringify(record.user).length;
      expect(await post(path, { config, record })).toMatchObject({
        status: 200,
        body: {
          records: [record.user, record.user],
          bytes_before: before,
          bytes_after: after,
          percentage_change: Math.round(((after - before) / before) * 10_000) / 100,
        },
      });
      expect((await get(`/v2/${acme.team}/transforms`)).body.pagination.total).toBe(0);
    },
  );

  it('takes a record as text, as base64 and as bytes', async () => {
    const text = JSON.stringify(record);
    const given = [record, text, Buffer.from(text).toString('base64'), [...Buffer.from(text)]];
    for (const one of given) {
      const { body } = await post('/v2/sandbox/transform', { config: { operations: [drop] }, record: one });
      expect(body.records).toEqual([{ user: record.user }]);
    }
    for (const bad of ['[]', 'bm90IGpzb24=', [1, 2], '{']) {
      const answer = await post('/v2/sandbox/transform', { config: { operations: [] }, record: bad });
      expect([bad, answer.status]).toEqual([bad, 400]);
    }
  });

  it('answers a dropped record with no records', async () => {
    const config = { operations: [{ operation: 'jq', arguments: { query: 'empty' } }] };
    const { body } = await post('/v2/sandbox/transform', { config, record });
    expect(body).toMatchObject({ records: [], bytes_after: 0, percentage_change: -100 });
  });

  it('keeps the digits of large numbers, as a pipeline does', async () => {
    const config = { operations: [{ operation: 'jq', arguments: { query: '.' } }] };
    const { text } = await post('/v2/sandbox/transform', { config, record: '{"n":100000000000000000}' });
    expect(text).toContain('"records":[{"n":100000000000000000}]');
  });

  it('says why a record is rejected, without its values', async () => {
    const operation = { operation: 'mutate_type', arguments: { key: 'user.name', type: 'int' } };
    const answer = await post('/v2/sandbox/transform', { config: { operations: [operation] }, record });
    expect(answer).toMatchObject({
      status: 400,
      body: { additional_details: { issues: [{ path: '/record', message: expect.stringContaining('user.name') }] } },
    });
    expect(answer.text).not.toContain('Ana');
    const unknown = await post('/v2/sandbox/transform', { config: { operations: [{ operation: 'x' }] }, record });
    expect(unknown.body.additional_details.issues).toMatchObject([{ path: '/config/operations/0/operation' }]);
  });

  it('ends a program that does not', async () => {
    const config = { operations: [{ operation: 'jq', arguments: { query: 'last(range(1e12))' } }] };
    const answer = await post('/v2/sandbox/transform', { config, record });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('jq_timeout')]);
  });

  it('evaluates a condition, also a single leaf', async () => {
    const result = async (condition: unknown) =>
      (await post('/v2/sandbox/condition', { condition, record })).body.result;
    expect(await result(leaf('Ana'))).toBe(true);
    expect(await result(leaf('Bo'))).toBe(false);
    expect(await result({ operator: 'nor', conditions: [leaf('Bo'), { operator: 'never' }] })).toBe(true);
    const invalid = await post('/v2/sandbox/condition', { condition: { type_id: 'equals' }, record });
    expect(invalid).toMatchObject({
      status: 400,
      body: { additional_details: { issues: [{ path: '/condition/config' }] } },
    });
  });

  it('generates records that transforms can be tried on', async () => {
    const { body } = await get('/v2/sandbox/template');
    expect(body.templates.length).toBeGreaterThan(20);
    for (const record_type of body.templates) {
      const made = await post('/v2/sandbox/template', { record_type });
      expect([record_type, made.status]).toEqual([record_type, 200]);
      expect(Object.keys(made.body.record).length).toBeGreaterThan(2);
    }
    expect((await post('/v2/sandbox/template', { record_type: 'none' })).status).toBe(400);
  });

  it('is limited for each API key', async () => {
    const limits = { test_key: { points: 2, seconds: 60 } };
    const limited = await createTestService({ database: await databases.open(), limits });
    const tenant = await limited.tenant('Northwind');
    const body = { condition: { operator: 'always' }, record: {} };
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1)
      statuses.push((await limited.call('POST', '/v2/sandbox/condition', { key: tenant.key, body })).status);
    expect(statuses).toEqual([200, 200, 429]);
    await limited.store.close();
  });
});
