import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { listenHttp, type WebListener } from '../../../../test/support/listener.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const databases = anyDatabase();
const received: { authorization: string | undefined; body: string }[] = [];
let service: TestService;
let acme: Tenant;
let session: string;
let server: WebListener;
let outputs: string;

beforeAll(async () => {
  server = await listenHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      received.push({ authorization: request.headers.authorization, body });
      const status = request.headers.authorization === 'Bearer right' ? 200 : 401;
      response.writeHead(status).end(`you said ${request.headers.authorization}`);
    });
  });
  service = await createTestService({ database: await databases.open(), egressAllow: ['127.0.0.1/32'] });
  acme = await service.tenant('Northwind');
  session = await service.session(acme);
  outputs = `/v2/${acme.team}/outputs`;
});
afterAll(async () => {
  await server.close();
  await service.store.close();
});

const http = (token: string, endpoint = server.origin) => ({
  name: 'Collector',
  type: 'http',
  config: {
    settings: { endpoint, method: 'POST', payload_structure: 'array' },
    secrets: { auth_headers: { value: { Authorization: `Bearer ${token}` } } },
  },
});
const test = (body: object, credential: object = { session }) =>
  service.call('POST', `${outputs}/test-connection`, { ...credential, body });
const connectors = async () =>
  (await service.call('GET', `/v1/${acme.team}/outputs`, { key: acme.key })).body.pagination.total;

describe('test-connection', () => {
  it('connects to the destination and saves nothing', async () => {
    received.length = 0;
    const { status, body } = await test(http('right'));
    expect([status, body]).toEqual([
      200,
      { message: 'success', summary: expect.any(String), duration_ms: expect.any(Number) },
    ]);
    expect(received).toEqual([{ authorization: 'Bearer right', body: expect.stringContaining('connection_test') }]);
    expect(await connectors()).toBe(0);
  });

  it('tests a configuration for a node of a pipeline, under the same rules', async () => {
    received.length = 0;
    const { body: pipeline } = await service.call('POST', `/v2/${acme.team}/pipelines`, {
      key: acme.key,
      body: { name: 'P' },
    });
    const { type, config } = http('right');
    const testNode = (given: object, id = pipeline.id) =>
      service.call('POST', `/v2/${acme.team}/pipelines/${id}/test-connection`, { key: acme.key, body: given });
    const node = { component_type: 'output', type, config };
    expect((await testNode(node)).body.message).toBe('success');
    expect(received).toHaveLength(1);
    expect((await testNode(node, acme.team)).status).toBe(404);
    const { body: secret } = await service.call('POST', `/v2/${acme.team}/secrets`, {
      key: acme.key,
      body: { name: 'S', value: { Authorization: 'Bearer right' }, destinations: [] },
    });
    const elsewhere = { ...config, secrets: { auth_headers: { id: secret.id } } };
    expect((await testNode({ ...node, config: elsewhere })).body.error_type).toBe('secret_not_allowed');
    expect(received).toHaveLength(1);
  });

  it('returns a reason and a hint, but nothing from the response of the destination (S21)', async () => {
    const answer = await test(http('wrong-canary'));
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error_type: 'test_failed',
        code: 400,
        additional_details: {
          reason: 'invalid_credentials',
          hint: expect.any(String),
          issues: [{ path: '/secrets/auth_headers' }],
        },
      },
    });
    expect(answer.text).not.toMatch(/canary|you said/);
  });

  it('uses the stored secrets of the connector that the request names', async () => {
    const made = await service.call('POST', outputs, { key: acme.key, body: http('right') });
    received.length = 0;
    const { settings } = http('right').config;
    const kept = { type: 'http', config: { settings }, id: made.body.id };
    for (const credential of [{ session }, { key: acme.key }]) expect((await test(kept, credential)).status).toBe(200);
    expect(received.map(({ authorization }) => authorization)).toEqual(['Bearer right', 'Bearer right']);
    expect(
      (await test({ ...kept, config: { settings: { ...settings, endpoint: `${server.origin}/other` } } })).body
        .error_type,
    ).toBe('secret_reentry_required');
    const narrow = await service.session(acme, { type_ids: ['slack'] });
    expect((await test(kept, { session: narrow })).status).toBe(403);
    await service.call('DELETE', `/v1/${acme.team}/outputs/${made.body.id}`, { key: acme.key });
    expect((await test(kept)).status).toBe(404);
  });

  it('rejects the ID of a connector of another type', async () => {
    const made = await service.call('POST', outputs, {
      key: acme.key,
      body: exampleBody(typeOf('output', 'dev-null')),
    });
    expect((await test({ ...http('right'), id: made.body.id })).status).toBe(400);
    await service.call('DELETE', `/v1/${acme.team}/outputs/${made.body.id}`, { key: acme.key });
  });

  it('rejects an address that the egress rules do not allow (S10)', async () => {
    for (const endpoint of ['http://127.0.0.2:80', 'http://169.254.169.254/latest', 'http://[::1]']) {
      const { status, body } = await test(http('right', endpoint), { key: acme.key });
      expect([endpoint, status, body.error_type]).toEqual([endpoint, 400, 'egress_refused']);
    }
  });

  it('returns no_test for a type without a test, and rejects invalid fields', async () => {
    expect((await test({ type: 'dev-null', config: {} })).body.error_type).toBe('no_test');
    const wrong = { ...http('right'), config: { settings: { endpoint: 'nowhere' } } };
    expect(await test(wrong)).toMatchObject({ status: 400, body: { error_type: 'invalid_config' } });
    expect((await test({ type: 'unknown', config: {} }, { key: acme.key })).status).toBe(400);
    expect((await test({ config: {} }, { key: acme.key })).status).toBe(400);
  });

  it('runs before a create request with test_connection=true', async () => {
    const create = (body: object) => service.call('POST', `${outputs}?test_connection=true`, { session, body });
    expect((await create(http('wrong'))).body.error_type).toBe('test_failed');
    expect((await create(exampleBody(typeOf('output', 'dev-null')))).body.error_type).toBe('no_test');
    expect(await connectors()).toBe(0);
    expect((await create(http('right'))).status).toBe(200);
    expect(await connectors()).toBe(1);
    const odd = await service.call('POST', `${outputs}?test_connection=yes`, { session, body: http('right') });
    expect(odd.status).toBe(400);
  });
});
