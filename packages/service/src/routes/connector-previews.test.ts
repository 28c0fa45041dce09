import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const TOKEN = '00aVeryLongOktaTokenValue0001';
const settings = { org_url: 'https://acme.okta.com' };

describe('previews of connectors', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let id: string;
  let pipeline: string;

  const send = (method: string, path: string, body?: object, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body && { body }) });
  const preview = (config: object, query = '', rest: object = {}) =>
    send('POST', `/v2/~/inputs/${id}/preview${query}`, { name: 'Okta', ...rest, config });

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
    const body = { name: 'Okta', type: 'okta-systemlog', config: { settings, secrets: { api_key: { value: TOKEN } } } };
    id = (await send('POST', '/v2/~/inputs', body)).body.id;
    pipeline = (await send('POST', '/v2/~/integrations', { input_id: id, name: 'P' })).body.pipeline_id;
  });
  afterAll(() => service.store.close());

  it('find no change in what is stored', async () => {
    const { status, body } = await preview({ settings, secrets: {} });
    expect([status, body.changed, body.blast_radius.blocking_count]).toEqual([200, false, 0]);
    expect((await preview({ settings, secrets: {} }, '', { name: 'Renamed' })).body.changed).toBe(true);
  });

  it('list the pipelines that a change would affect, and change nothing', async () => {
    const before = await send('GET', `/v1/~/inputs/${id}`);
    const { body } = await preview(
      { settings: { ...settings, limit: 500 }, secrets: { api_key: { value: 'x' } } },
      '?impact=true',
    );
    const changed = await preview({ settings, secrets: { api_key: { value: `${TOKEN}2` } } }, '?impact=true');
    expect(changed.body).toMatchObject({
      changed: true,
      blast_radius: {
        findings: [],
        instance_count: 1,
        organization_count: 1,
        instances: [
          {
            pipeline_id: pipeline,
            pipeline_name: 'P',
            organization_id: acme.team,
            organization_name: 'Northwind team',
            findings: [{ severity: 'info', code: 'applied' }],
          },
        ],
      },
    });
    expect(body.blast_radius.instances).toHaveLength(1);
    expect((await preview({ settings, secrets: {} })).body.blast_radius.instances).toEqual([]);
    expect((await send('GET', `/v1/~/inputs/${id}`)).body).toEqual(before.body);
  });

  it('name what PUT would refuse, with the setting but never a secret', async () => {
    const config = { settings: { org_url: 'acme', nonsense: 1 }, secrets: { api_key: { value: 'canary secret\n' } } };
    const { body, text } = await preview(config, '?impact=true');
    const put = await send('PUT', `/v2/~/inputs/${id}`, { name: 'Okta', config });
    expect(body.blast_radius.findings.map(({ field }: { field: string }) => field)).toEqual(
      put.body.additional_details.issues.map(({ path }: { path: string }) => path),
    );
    expect(body.blast_radius.findings).toContainEqual(
      expect.objectContaining({ field: '/settings/org_url', bad_value: 'acme', severity: 'error' }),
    );
    expect(body.blast_radius.instances[0].findings).toEqual([]);
    expect(text).not.toContain('canary');
  });

  it('apply the rule of destinations to kept secrets (S03)', async () => {
    const { body } = await preview({ settings: { org_url: 'https://evil.example' }, secrets: {} });
    expect(body.blast_radius).toMatchObject({
      blocking_count: 1,
      findings: [{ field: '/secrets/api_key', code: 'secret_reentry_required' }],
    });
  });

  it('are not for sessions, other kinds, other types and other organizations', async () => {
    const session = await service.session(acme);
    const body = { name: 'Okta', config: { settings, secrets: {} } };
    const path = `/v2/${acme.team}/inputs/${id}/preview`;
    expect((await service.call('POST', path, { session, body })).status).toBe(403);
    expect((await send('POST', `/v2/~/outputs/${id}/preview`, body)).status).toBe(404);
    expect((await preview({ settings, secrets: {} }, '', { type: 'slack' })).status).toBe(400);
    const globex = await service.tenant('Globex');
    expect(
      (await service.call('POST', `/v2/${globex.team}/inputs/${id}/preview`, { key: globex.key, body })).status,
    ).toBe(404);
  });
});
