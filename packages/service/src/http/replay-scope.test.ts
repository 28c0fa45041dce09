/**
 * S38: a repeated Idempotency-Key returns the stored response only to a caller that may make the
 * request.
 */
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { mountRoutes, type MountOptions } from './mount-routes.js';
import { organizationRoute } from './route.js';

describe('replay of an Idempotency-Key (S38)', () => {
  const okta = exampleBody(typeOf('input', 'okta-systemlog'));
  let service: TestService;
  let acme: Tenant;
  let inputs: string;
  let keys = 0;

  beforeAll(async () => {
    service = await createTestService({ database: await anyDatabase().open() });
    acme = await service.tenant('Northwind');
    inputs = `/v2/${acme.team}/inputs`;
  });
  afterAll(() => service.store.close());

  interface Request {
    method: string;
    path: string;
    body: unknown;
    headers: Record<string, string>;
  }
  const send = ({ method, path, ...rest }: Request, credential: { key: string } | { session: string }) =>
    service.call(method, path, { ...rest, ...credential });
  const headers = () => ({ 'idempotency-key': `intent-${(keys += 1)}` });
  const creation = (): Request => ({ method: 'POST', path: inputs, body: okta, headers: headers() });
  const anyone = () => service.session(acme);

  /** Sends a request with a session, so that its response is stored. */
  async function made(request: Request) {
    const first = await send(request, { session: await anyone() });
    expect(first.status).toBe(200);
    return { request, first };
  }
  async function changed() {
    const { first } = await made(creation());
    const path = `${inputs}/${first.body.id}`;
    const patch = await made({ method: 'PATCH', path, body: { name: 'Renamed' }, headers: headers() });
    const put = await made({ method: 'PUT', path, body: { ...okta, name: 'Replaced' }, headers: headers() });
    return [patch, put];
  }
  const expectNothing = (answer: Awaited<ReturnType<typeof send>>, id: string): void => {
    expect(answer.text).not.toContain(id);
    expect(answer.text).not.toContain('acme.okta.com');
    expect(answer.headers.get('idempotency-replayed')).toBeNull();
  };

  it('repeats the response to another session with the same permissions', async () => {
    for (const { request, first } of [await made(creation()), ...(await changed())]) {
      const again = await send(request, { session: await anyone() });
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
  });

  it.each([
    ['the other kind', { kind: 'output' }, [403, 403]],
    ['other types', { type_ids: ['slack', 's3'] }, [403, 404]],
    ['another connector', { connector_id: true }, [403, 403]],
  ] as const)('denies a session that is restricted to %s', async (_name, scope, [onCreate, onChange]) => {
    const other = await made({ ...creation(), body: { ...okta, name: 'Other' } });
    const narrowed = 'connector_id' in scope ? { connector_id: other.first.body.id, kind: 'input' } : scope;
    const session = await service.session(acme, narrowed);
    const create = await made(creation());
    const refused = await send(create.request, { session });
    expect(refused.status).toBe(onCreate);
    expectNothing(refused, create.first.body.id);
    for (const { request, first } of await changed()) {
      const answer = await send(request, { session });
      expect([request.method, answer.status]).toEqual([request.method, onChange]);
      expectNothing(answer, first.body.id);
    }
  });

  it('denies a session of one connector a create request, and allows a change of that connector', async () => {
    const { request, first } = await made(creation());
    const session = await service.session(acme, { kind: 'input', connector_id: first.body.id });
    const refused = await send(request, { session });
    expect(refused.status).toBe(403);
    expectNothing(refused, first.body.id);
    const path = `${inputs}/${first.body.id}`;
    const patch = await made({ method: 'PATCH', path, body: { name: 'Renamed' }, headers: headers() });
    expect((await send(patch.request, { session })).text).toBe(patch.first.text);
  });

  it('does not share stored responses between API keys and sessions', async () => {
    const { first } = await made(creation());
    const [secret] = Object.values<{ id: string }>(first.body.config.secrets);
    const [field] = Object.keys(first.body.config.secrets);
    // An API key may refer to a secret of another connector; a session may not.
    const body = { ...okta, config: { ...okta.config, secrets: { [field ?? '']: { id: secret?.id } } } };
    const request = { ...creation(), body };
    const byKey = await send(request, { key: acme.key });
    expect(byKey.status).toBe(200);
    const bySession = await send(request, { session: await anyone() });
    expect(bySession).toMatchObject({ status: 422, body: { error_type: 'idempotency_mismatch' } });
    expectNothing(bySession, byKey.body.id);
    expect((await send(request, { key: acme.key })).text).toBe(byKey.text);
    // An API key does not get the stored response to a session either.
    const { request: mine, first: answer } = await made(creation());
    const crossed = await send(mine, { key: acme.key });
    expect(crossed.status).toBe(422);
    expectNothing(crossed, answer.body.id);
  });

  it('denies principals of other organizations and keys without the permission', async () => {
    const globex = await service.tenant('Globex');
    const { request, first } = await made(creation());
    const foreignKey = await send(request, { key: globex.key });
    expect(foreignKey.status).toBe(404);
    expectNothing(foreignKey, first.body.id);
    const foreignSession = await send(request, { session: await service.session(globex) });
    expect(foreignSession.status).toBe(403);
    expectNothing(foreignSession, first.body.id);
    const reader = await service.call('POST', `/v3/${acme.id}/api-keys`, {
      key: acme.key,
      body: { name: 'reader', permissions: ['read'] },
    });
    const unable = await send(request, { key: reader.body.key });
    expect(unable.status).toBe(403);
    expectNothing(unable, first.body.id);
  });

  it('rejects a revoked key, its sessions and an expired session', async () => {
    const second = await service.call('POST', `/v3/${acme.id}/api-keys`, {
      key: acme.key,
      body: { name: 'second', permissions: ['read', 'write', 'sessions:create'] },
    });
    const { id, key } = second.body;
    const byKey = { ...creation(), body: { ...okta, name: 'By key' } };
    expect((await send(byKey, { key })).status).toBe(200);
    const session = await service.session({ ...acme, key });
    const bySession = creation();
    const first = await send(bySession, { session });
    expect(first.status).toBe(200);
    await service.call('DELETE', `/v3/${acme.id}/api-keys/${id}`, { key: acme.key });
    for (const answer of [await send(byKey, { key }), await send(bySession, { session })]) {
      expect(answer.status).toBe(401);
      expectNothing(answer, first.body.id);
    }

    const short = await service.session(acme, { ttl_seconds: 300 });
    const last = creation();
    expect((await send(last, { session: short })).status).toBe(200);
    service.clock.advance(301_000);
    const over = await send(last, { session: short });
    expect([over.status, over.body.error_type]).toEqual([401, 'token_expired']);
    expectNothing(over, 'acme.okta.com');
    // The frame requests a new session and repeats the request (R05).
    const renewed = await send(last, { session: await anyone() });
    expect(renewed.headers.get('idempotency-replayed')).toBe('true');
  });

  it('returns 404 for a deleted connector to a session that is restricted to types', async () => {
    const [patch] = await changed();
    if (!patch) throw new Error('no change');
    const { request, first } = patch;
    await service.call('DELETE', request.path.replace('/v2/', '/v1/'), { key: acme.key });
    const narrowed = await service.session(acme, { type_ids: ['okta-systemlog'] });
    const answer = await send(request, { session: narrowed });
    expect(answer.status).toBe(404);
    expectNothing(answer, first.body.id);
  });
});

it('mountRoutes rejects an idempotent route for sessions without an authorize check (S38)', () => {
  const route = organizationRoute(
    {
      method: 'post',
      path: '/v2/{org}/things',
      tag: 'Things',
      operation: 'createThing',
      summary: 'Create a thing',
      description: 'For this test alone.',
      access: { permission: 'input:write', session: 'allow' },
      params: z.object({ org: z.string() }),
      idempotent: true,
      response: { status: 200, description: 'Done.' },
    },
    () => ({ status: 200 }),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- refused before any of it is used
  expect(() => mountRoutes(new OpenAPIHono(), [route], {} as MountOptions)).toThrow(/Pass "authorize"/);
});
