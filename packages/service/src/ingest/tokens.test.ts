import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { createIngestTokens } from './tokens.js';

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;
let id: string;
let token: string;
let readOnly: string;

const body = { name: 'Pushed', type: 'monad-http', config: { settings: {}, secrets: {} } };

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
  acme = await service.tenant('Northwind');
  const key = { name: 'reader', permissions: ['read'] };
  readOnly = (await service.call('POST', `/v3/${acme.id}/api-keys`, { key: acme.key, body: key })).body.key;
  const made = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body });
  ({ id } = made.body);
  ({ token } = made.body.ingest);
});
afterAll(() => service.store.close());

describe('the ingest token of an input', () => {
  it('is returned to a key with write permission and does not change', async () => {
    expect(token).toMatch(/^cfi_[\w-]{43}$/);
    expect(createIngestTokens(service.vault).isOf(id, token)).toBe(true);
    const { key } = acme;
    const one = await service.call('GET', `/v1/${acme.team}/inputs/${id}`, { key });
    expect(one.body.ingest).toEqual({ url: `https://connect.example/ingest/${id}`, token });
    const list = await service.call('GET', `/v1/${acme.team}/inputs`, { key });
    expect(list.body.inputs[0].ingest.token).toBe(token);
    const changed = await service.call('PATCH', `/v2/${acme.team}/inputs/${id}`, { key, body: { name: 'Renamed' } });
    expect(changed.body.ingest.token).toBe(token);
    const other = await service.call('POST', `/v2/${acme.team}/inputs`, { key, body });
    expect(other.body.ingest.token).not.toBe(token);
  });

  it('is not returned to a session or to a key without write permission', async () => {
    const session = await service.session(acme);
    const answers = [
      await service.call('GET', `/v1/${acme.team}/inputs/${id}`, { session }),
      await service.call('PATCH', `/v2/${acme.team}/inputs/${id}`, { session, body: { name: 'By a frame' } }),
      await service.call('GET', `/v1/${acme.team}/inputs/${id}`, { key: readOnly }),
    ];
    for (const { status, body: read } of answers) {
      expect([status, read.ingest]).toEqual([200, { url: `https://connect.example/ingest/${id}` }]);
    }
    const made = await service.call('POST', `/v2/${acme.team}/inputs`, { session, body });
    expect(Object.keys(made.body.ingest)).toEqual(['url']);
    const list = await service.call('GET', `/v1/${acme.team}/inputs`, { key: readOnly });
    expect(list.text).not.toContain('cfi_');
  });

  it('is not stored in the database, the log or the response to an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one-intent' };
    const first = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body, headers });
    const again = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body, headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const tables = await service.database.script((run) =>
      run(`select table_name as name from information_schema.tables where table_schema = 'public'`),
    );
    const kept: string[] = [service.log.join('')];
    for (const { name } of tables)
      kept.push(JSON.stringify(await service.database.script((run) => run(`select t::text from ${String(name)} t`))));
    const secret: string = first.body.ingest.token;
    for (const text of [secret, secret.slice(4), Buffer.from(secret.slice(4), 'base64url').toString('hex')])
      expect(kept.filter((place) => place.includes(text))).toEqual([]);
    expect(kept.join('')).toContain(first.body.id);
  });

  it('is absent for polling inputs and for outputs', async () => {
    const output = { name: 'x', type: 'dev-null', config: { settings: {}, secrets: {} } };
    const made = await service.call('POST', `/v2/${acme.team}/outputs`, { key: acme.key, body: output });
    expect(made.body.ingest).toBeUndefined();
    const demo = { ...body, type: 'demo' };
    expect(
      (await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body: demo })).body.ingest,
    ).toBeUndefined();
  });
});
