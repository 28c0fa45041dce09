import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asWrite, exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

describe.each(eachDatabase())('Idempotency-Key on $name (R01)', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let keys = 0;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const body = exampleBody(typeOf('input', 'okta-systemlog'));
  const newKey = () => `intent-${(keys += 1)}`;
  const post = (key: string, sent: unknown = body, path = `/v2/${acme.team}/inputs`) =>
    service.call('POST', path, { key: acme.key, body: sent, headers: { 'idempotency-key': key } });
  const count = async () =>
    (await service.call('GET', `/v1/${acme.team}/inputs`, { key: acme.key })).body.pagination.total;
  /** Claims the key like another process that has not responded yet. */
  const takeKey = async (key: string, request: string, milliseconds = 60_000) =>
    service.store.idempotency.claim({
      organizationId: acme.team,
      key,
      digest: service.vault.digest('request', request),
      owner: 'another process',
      now: new Date(service.clock.now()),
      lockedUntil: new Date(service.clock.now() + milliseconds),
      expiresAt: new Date(service.clock.now() + 86_400_000),
    });
  const asSent = (sent: unknown) => `POST /v2/${acme.team}/inputs\n\n${JSON.stringify(sent)}`;

  it('creates one connector and repeats the response', async () => {
    acme = await service.tenant('Northwind');
    const key = newKey();
    const first = await post(key);
    expect(first.status).toBe(200);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const again = await post(key);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('etag')).toBe('"v1"');
    expect(await count()).toBe(1);
    expect((await post(newKey())).body.id).not.toBe(first.body.id);
  });

  it('creates one connector for concurrent requests', async () => {
    acme = await service.tenant('Double click');
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(key)));
    const made = answers.filter(({ status }) => status === 200);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(({ body: { id } }) => id)).size).toBe(1);
    for (const { status, body: refusal, headers } of answers.filter((answer) => answer.status !== 200)) {
      expect([status, refusal.error_type]).toEqual([409, 'idempotency_conflict']);
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(await count()).toBe(1);
  });

  it('rejects another request with the same key', async () => {
    acme = await service.tenant('Mismatch');
    const key = newKey();
    const { body: made } = await post(key);
    const others = [
      await post(key, { ...body, name: 'Other' }),
      await post(key, body, `/v2/${acme.team}/inputs?test_connection=false`),
      await service.call('PATCH', `/v2/${acme.team}/inputs/${made.id}`, {
        key: acme.key,
        body: { name: 'x' },
        headers: { 'idempotency-key': key },
      }),
    ];
    for (const answer of others) {
      expect(answer).toMatchObject({ status: 422, body: { error_type: 'idempotency_mismatch' } });
    }
    expect(await count()).toBe(1);
  });

  it('releases the key after a rejected request, and rejects invalid keys', async () => {
    acme = await service.tenant('Refusal');
    const key = newKey();
    const wrong = { ...body, config: { ...body.config, settings: {} } };
    expect((await post(key, wrong)).status).toBe(400);
    expect((await post(key, wrong)).body.error_type).toBe('invalid_config');
    expect((await post(key)).status).toBe(200);
    for (const bad of ['', ' ', 'x'.repeat(256), 'ümlaut']) {
      const headers = new Headers();
      headers.set('idempotency-key', Buffer.from(bad).toString('latin1'));
      const sent = { key: acme.key, body, headers: { 'idempotency-key': headers.get('idempotency-key') ?? '' } };
      expect((await service.call('POST', `/v2/${acme.team}/inputs`, sent)).status, bad).toBe(400);
    }
  });

  it('repeats the response to a change even if its If-Match no longer matches', async () => {
    acme = await service.tenant('Repeated change');
    const { body: made } = await post(newKey());
    const change = () =>
      service.call('PATCH', `/v2/${acme.team}/inputs/${made.id}`, {
        key: acme.key,
        body: { name: 'Renamed' },
        headers: { 'idempotency-key': 'change-1', 'if-match': '"v1"' },
      });
    expect((await change()).body.version).toBe(2);
    expect((await change()).body.version).toBe(2);
  });

  it('is scoped to the organization', async () => {
    const key = newKey();
    acme = await service.tenant('One');
    const one = await post(key);
    acme = await service.tenant('Two');
    const two = await post(key);
    expect([two.status, two.body.id === one.body.id]).toEqual([200, false]);
  });

  it('conflicts while another process holds the key, and takes over when its lock expires', async () => {
    acme = await service.tenant('Died');
    const key = newKey();
    expect(await takeKey(key, asSent(body))).toEqual({ state: 'mine' });
    expect((await post(key)).body.error_type).toBe('idempotency_conflict');
    service.clock.advance(60_001);
    const after = await post(key);
    expect(after.status).toBe(200);
    // The first process lost its claim, so its late commit is rejected.
    expect(await service.store.idempotency.complete(acme.team, key, 'another process', '{}')).toBe(false);
    expect((await post(key)).text).toBe(after.text);
    expect(await count()).toBe(1);
  });

  it('stores responses for 24 hours', async () => {
    acme = await service.tenant('A day');
    const key = newKey();
    const first = await post(key);
    service.clock.advance(24 * 3_600_000 - 60_000);
    expect((await post(key)).body.id).toBe(first.body.id);
    service.clock.advance(60_001);
    expect((await post(key)).body.id).not.toBe(first.body.id);
    service.clock.advance(24 * 3_600_000 + 1);
    await service.store.idempotency.sweep(new Date(service.clock.now()));
    const rows = await service.database.script((run) => run('select count(*)::int as n from idempotency_keys'));
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('creates one organization and repeats the response', async () => {
    acme = await service.tenant('Together');
    const key = newKey();
    const { body: team } = await post(key, { name: 'Team' }, `/v3/${acme.id}/organizations`);
    const again = await post(key, { name: 'Team' }, `/v3/${acme.id}/organizations`);
    expect([again.status, again.body.id]).toEqual([200, team.id]);
    const teams = await service.call('GET', `/v3/${acme.id}/organizations`, { key: acme.key });
    expect(teams.body.pagination.total).toBe(2);
  });

  it('stores no secret with the response', async () => {
    acme = await service.tenant('No secret');
    const type = typeOf('input', 'okta-systemlog');
    const settings = { org_url: 'https://acme.okta.com' };
    const config = asWrite({ settings, secrets: { api_key: 'canary-in-a-remembered-body' } });
    await post(newKey(), { name: 'x', type: type.type_id, config });
    const rows = await service.database.script((run) =>
      run('select *, request_digest::text as d from idempotency_keys'),
    );
    expect(JSON.stringify(rows)).not.toContain('canary');
  });
});
