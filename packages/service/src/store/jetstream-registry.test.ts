import type { ConsumerPosition } from '@connector-frame/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import type { Database } from './database.js';
import { createEngineLeases } from './engine-leases.js';
import { createJetStreamRegistry } from './jetstream-registry.js';

const at = (number: number): ConsumerPosition => ({
  number,
  records: number * 10,
  bytes: number * 1_000,
  dropped: { batches: 1, records: 2, bytes: 3 },
  seq: number * 2,
  epoch: '2026-11-26T05:00:00Z',
});

describe.each(eachDatabase())('the registry of streams on $name', (databases) => {
  let database: Database;
  let token: number;
  let lost = 0;
  const registry = () => createJetStreamRegistry(database.queries, { token, onLost: () => void (lost += 1) });
  beforeAll(async () => {
    database = await databases.open();
    token = (await createEngineLeases(database.queries).acquire('one', 60_000)) ?? 0;
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });

  it('keeps streams, consumers and positions', async () => {
    const a = { name: 'a', policy: 'drop_newest', maxBytes: 5_000 } as const;
    expect(await registry().declare('s.1', 3, [a, { name: 'b' }])).toEqual({
      shard: 3,
      consumers: [a, { name: 'b' }],
    });
    await registry().savePosition('s.1', 'a', at(0));
    await registry().savePosition('s.1', 'a', at(7));
    await registry().savePosition('s.1', 'b', at(2));
    // The first declaration decides the shard; only listed consumers keep their positions.
    const again = { shard: 3, consumers: [{ name: 'c' }, { name: 'a', position: at(7) }] };
    expect(await registry().declare('s.1', 1, [{ name: 'c' }, { name: 'a' }])).toEqual(again);
    await registry().declare('s.1', 1, [{ name: 'a' }, { name: 'b' }]);
    expect((await registry().read('s.1'))?.consumers).toEqual([{ name: 'a', position: at(7) }, { name: 'b' }]);
    const missing = { lost: { records: 4, exact: true, since: 1, latest: 2 }, ranges: [[3, 7]] };
    await registry().saveLost('s.1', missing);
    expect((await registry().read('s.1'))?.lost).toEqual(missing);
    expect(await registry().list()).toEqual(['s.1']);
    await registry().remove('s.1');
    expect(await registry().read('s.1')).toBeUndefined();
    // A position that arrives after the removal creates nothing.
    await registry().savePosition('s.1', 'a', at(9));
    expect(await registry().list()).toEqual([]);
  });

  it('never moves a position back, however writes are combined', async () => {
    const one = registry();
    const names = Array.from({ length: 600 }, (_, n) => `many.${n}`);
    await Promise.all(names.map((name) => one.declare(name, 0, [{ name: 'a' }])));
    await Promise.all(names.flatMap((name) => [3, 5, 4].map((number) => one.savePosition(name, 'a', at(number)))));
    await one.savePosition('many.7', 'a', at(4));
    const found = await Promise.all(names.map((name) => one.read(name)));
    expect(new Set(found.map((each) => each?.consumers[0]?.position?.number))).toEqual(new Set([5]));
    expect(lost).toBe(0);
  });

  it('rejects the writes of a process that has lost the lease', async () => {
    const one = registry();
    await one.declare('fenced', 0, [{ name: 'a' }]);
    await database.script((run) => run(`update engine_state set value = '{"token": 99}' where key = 'lease:engine/'`));
    await expect(one.savePosition('fenced', 'a', at(1))).rejects.toMatchObject({ code: 'fenced' });
    await expect(one.declare('other', 0, [])).rejects.toMatchObject({ code: 'fenced' });
    await expect(one.remove('fenced')).rejects.toMatchObject({ code: 'fenced' });
    expect(lost).toBe(3);
    expect(await one.read('fenced')).toEqual({ shard: 0, consumers: [{ name: 'a' }] });
  });
});
