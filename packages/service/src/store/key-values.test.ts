import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createStore } from './create-store.js';
import type { Database } from './database.js';
import { createEngineLeases } from './engine-leases.js';
import { createKeyValueWriter, type KeyValueLimits } from './key-values.js';
import type { Store } from './store.js';

const START = Date.UTC(2026, 0, 1);
const at = (ms: number): Date => new Date(START + ms);
const HOUR = 3_600_000;

describe.each(eachDatabase())('key-value tables on $name', (databases) => {
  let database: Database;
  let store: Store;
  let acme: string;
  let token: number;

  beforeAll(async () => {
    database = await databases.open();
    store = createStore(database);
    acme = await organization('Acme');
    token = (await createEngineLeases(database.queries).acquire('test', 600_000)) ?? 0;
  });
  afterAll(async () => {
    await store.close();
    await databases.close();
  });

  async function organization(name: string): Promise<string> {
    const row = { id: randomUUID(), parentId: null, name, description: '', friendlyName: '', allowedOrigins: [] };
    await store.organizations.insert({ ...row, createdAt: at(0), updatedAt: at(0) });
    return row.id;
  }

  /** Creates an output, and returns how to use its table. */
  async function table(limits: KeyValueLimits = { maxBytes: 1_000_000, maxKeys: 1_000 }, organizationId = acme) {
    const id = randomUUID();
    const output = { id, organizationId, kind: 'output', type: 'kv-lookup', name: 'Users', description: '' } as const;
    const rest = { settings: { key_field: 'id' }, version: 1, createdAt: at(0), updatedAt: at(0) };
    await store.connectors.insert({ ...output, ...rest, port: null, refersTo: null });
    const writer = createKeyValueWriter(database, token, limits);
    const { keyValues } = store;
    return {
      id,
      put: (entries: Record<string, string>, ms = 0, ttl?: number) =>
        writer.put(
          id,
          Object.entries(entries).map(([key, value]) => ({ key, value })),
          at(ms),
          ttl,
        ),
      get: async (keys: string[], ms = 0, reader = organizationId) => {
        const found = await keyValues.get(reader, id, keys, at(ms));
        return Object.fromEntries(Array.from(found, ([key, { value }]) => [key, value]));
      },
      size: async (ms = 0) => {
        const { keys, bytes } = await keyValues.size(organizationId, id, at(ms));
        return [keys, bytes];
      },
      sweep: async (ms: number) => {
        while (await store.transaction((tables) => tables.keyValues.sweep(at(ms))));
      },
    };
  }

  const physicalRows = async (id: string): Promise<number> => {
    const [row] = await database.script((run) =>
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
    const writer = createKeyValueWriter(database, token, { maxBytes: 100, maxKeys: 10 });
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
    expect((await store.keyValues.sample(acme, id, 10, at(HOUR))).length).toBe(2);
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
    const lower = createKeyValueWriter(database, token, { maxBytes: 1, maxKeys: 1 });
    await lower.put(id, [{ key: 'a', value: '1' }], at(0));
    expect(await get(['a'])).toEqual({ a: '1' });
  });

  it('another organization finds nothing, also with the id of the output', async () => {
    const globex = await organization('Globex');
    const { id, put, get } = await table();
    await put({ a: '1' });
    expect(await get(['a'], 0, globex)).toEqual({});
    expect(await store.keyValues.size(globex, id, at(0))).toMatchObject({ keys: 0 });
    expect(await store.keyValues.sample(globex, id, 10, at(0))).toEqual([]);
  });

  it('a process that lost the lease writes nothing', async () => {
    const { id, put, get } = await table();
    await put({ a: 'new' });
    const stale = createKeyValueWriter(database, token - 1, { maxBytes: 1_000, maxKeys: 10 });
    await expect(stale.put(id, [{ key: 'a', value: 'old' }], at(9))).rejects.toMatchObject({ code: 'not_running' });
    expect(await get(['a'])).toEqual({ a: 'new' });
  });

  it('entries of a deleted output, or organization, cannot be read and are deleted by the sweeper', async () => {
    const initech = await organization('Initech');
    const [one, other] = [await table(), await table(undefined, initech)];
    await one.put({ a: '1' });
    await other.put({ a: '1' });
    await store.connectors.remove(one.id);
    await store.organizations.remove(initech);
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
