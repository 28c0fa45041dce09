import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { createEngineLeases } from './engine-leases.js';
import { createKeyValueWriter, type KeyValueLimits } from './key-values.js';

const START = Date.UTC(2026, 0, 1);
const at = (ms: number): Date => new Date(START + ms);
const HOUR = 3_600_000;

describe.each(eachDatabase())('key-value tables on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let token: number;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Acme');
    token = (await createEngineLeases(service.database.queries).acquire('test', 600_000)) ?? 0;
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  /** Creates an output, and returns how to use its table. */
  async function table(limits: KeyValueLimits = { maxBytes: 1_000_000, maxKeys: 1_000 }, tenant = acme) {
    const body = { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id' } } };
    const { id } = (await service.call('POST', `/v2/${tenant.team}/outputs`, { key: tenant.key, body })).body;
    const writer = createKeyValueWriter(service.database, token, limits);
    const { keyValues } = service.store;
    return {
      id: String(id),
      put: (entries: Record<string, string>, ms = 0, ttl?: number) =>
        writer.put(
          id,
          Object.entries(entries).map(([key, value]) => ({ key, value })),
          at(ms),
          ttl,
        ),
      get: async (keys: string[], ms = 0, organization = tenant.team) => {
        const found = await keyValues.get(organization, id, keys, at(ms));
        return Object.fromEntries(Array.from(found, ([key, { value }]) => [key, value]));
      },
      size: async (ms = 0) => {
        const { keys, bytes } = await keyValues.size(tenant.team, id, at(ms));
        return [keys, bytes];
      },
      sweep: async (ms: number) => {
        while (await service.store.transaction((tables) => tables.keyValues.sweep(at(ms))));
      },
    };
  }

  const physicalRows = async (id: string): Promise<number> => {
    const [row] = await service.database.script((run) =>
      run(`select count(*)::int as rows from key_value_entries where connector_id = '${id}'`),
    );
    return Number(row?.['rows']);
  };

  it('return what was written last, of any key, and count keys and bytes', async () => {
    const { put, get, size } = await table();
    expect([await size(), await get(['a'])]).toEqual([[0, 0], {}]);
    const keys = { a: '1', ü: '"é"', '': 'null', 'a\u0000b': '"nul"', "x'); drop table organizations; --": '{}' };
    await put(keys);
    await put({ a: '{"n":12345678901234567890,"s":"\\u0000\\ud800"}' }, 5);
    expect(await get([...Object.keys(keys), 'b', '__proto__'])).toEqual({
      ...keys,
      a: '{"n":12345678901234567890,"s":"\\u0000\\ud800"}',
    });
    const bytes = (await get(Object.keys(keys))) satisfies Record<string, string>;
    const expected = Object.entries(bytes).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0);
    expect(await size()).toEqual([5, expected]);
  });

  it('of one write with a key several times, the last value counts', async () => {
    const { id, get, size } = await table();
    const writer = createKeyValueWriter(service.database, token, { maxBytes: 100, maxKeys: 10 });
    await writer.put(
      id,
      [
        { key: 'k', value: '1' },
        { key: 'l', value: '2' },
        { key: 'k', value: '33' },
      ],
      at(0),
    );
    expect([await get(['k', 'l']), await size()]).toEqual([{ k: '33', l: '2' }, [2, 5]]);
  });

  it('keys expire, are renewed by a write, and are deleted by the sweeper', async () => {
    const { id, put, get, size, sweep } = await table();
    await put({ old: '1', renewed: '2', forever: '3' }, 0, HOUR);
    await put({ renewed: '2' }, HOUR / 2, HOUR);
    await put({ forever: '3' }, HOUR / 2);
    expect(await get(['old', 'renewed', 'forever'], HOUR - 1)).toEqual({ old: '1', renewed: '2', forever: '3' });
    expect(await get(['old', 'renewed', 'forever'], HOUR)).toEqual({ renewed: '2', forever: '3' });
    expect([await size(HOUR), await physicalRows(id)]).toEqual([[2, 16], 3]);
    expect((await service.store.keyValues.sample(acme.team, id, 10, at(HOUR))).length).toBe(2);
    await sweep(HOUR);
    expect([await size(HOUR), await physicalRows(id)]).toEqual([[2, 16], 2]);
    await sweep(10 * HOUR);
    expect([await size(10 * HOUR), await get(['forever'], 1_000 * HOUR)]).toEqual([[1, 8], { forever: '3' }]);
  });

  it('a full table takes no new key or larger value, whatever expired makes room first', async () => {
    const { put, get, size } = await table({ maxBytes: 20, maxKeys: 3 });
    await put({ a: '1', b: '2' });
    await expect(put({ c: '1', d: '2' })).rejects.toMatchObject({
      code: 'table_full',
      kind: 'throttled',
      afterMs: 30_000,
    });
    expect([await size(), await get(['c', 'd'])]).toEqual([[2, 4], {}]);
    await expect(put({ a: 'x'.repeat(20) })).rejects.toMatchObject({ code: 'table_full' });
    await put({ c: '3' }, 0, HOUR);
    await put({ a: '9' });
    expect(await size()).toEqual([3, 6]);
    await put({ d: '4' }, HOUR);
    expect([await size(HOUR), await get(['a', 'b', 'c', 'd'], HOUR)]).toEqual([[3, 6], { a: '9', b: '2', d: '4' }]);
  });

  it('a table that is larger than a lowered limit takes what does not grow it', async () => {
    const { id, put, get } = await table();
    await put({ a: '111', b: '2' });
    const lower = createKeyValueWriter(service.database, token, { maxBytes: 1, maxKeys: 1 });
    await lower.put(id, [{ key: 'a', value: '1' }], at(0));
    expect(await get(['a'])).toEqual({ a: '1' });
  });

  it('another organization finds nothing, also with the id of the output', async () => {
    const globex = await service.tenant('Globex');
    const { id, put, get } = await table();
    await put({ a: '1' });
    expect(await get(['a'], 0, globex.team)).toEqual({});
    expect(await service.store.keyValues.size(globex.team, id, at(0))).toMatchObject({ keys: 0 });
    expect(await service.store.keyValues.sample(globex.team, id, 10, at(0))).toEqual([]);
  });

  it('a process that lost the lease writes nothing', async () => {
    const { id, put, get } = await table();
    await put({ a: 'new' });
    const stale = createKeyValueWriter(service.database, token - 1, { maxBytes: 1_000, maxKeys: 10 });
    await expect(stale.put(id, [{ key: 'a', value: 'old' }], at(9))).rejects.toMatchObject({ code: 'not_running' });
    expect(await get(['a'])).toEqual({ a: 'new' });
  });

  it('entries of a deleted output, or organization, can not be read and are deleted by the sweeper', async () => {
    const initech = await service.tenant('Initech');
    const [one, other] = [await table(), await table(undefined, initech)];
    await one.put({ a: '1' });
    await other.put({ a: '1' });
    await service.call('DELETE', `/v1/${acme.team}/outputs/${one.id}`, { key: acme.key });
    await service.call('DELETE', `/v3/${initech.id}/organizations/${initech.team}`, { key: initech.key });
    expect([await one.get(['a']), await other.get(['a'])]).toEqual([{}, {}]);
    await one.sweep(0);
    expect([await physicalRows(one.id), await physicalRows(other.id)]).toEqual([0, 0]);
  });

  it('concurrent writes count every key once', async () => {
    const { put, size } = await table();
    await Promise.all(Array.from({ length: 8 }, (_, n) => put({ shared: 'x'.repeat(n + 1), [`own ${n}`]: '1' })));
    const [keys, bytes = 0] = await size();
    expect(keys).toBe(9);
    expect(bytes).toBeGreaterThanOrEqual(8 * 6 + 7);
  });
});
