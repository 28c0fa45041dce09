import type { ConsumerPosition } from '@connector-frame/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase, postgresql } from '../../../../test/support/databases.js';
import type { Database } from './database.js';
import { createEngineLeases } from './engine-leases.js';
import { createEngineMembers } from './engine-members.js';
import { createJetStreamRegistry, createSharedJetStreamRegistry } from './jetstream-registry.js';

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

describe('the registry of processes that share pipelines', () => {
  const databases = postgresql();
  let database: Database;
  const leases = new Map([
    ['one', new Map<string, number>()],
    ['two', new Map<string, number>()],
  ]);
  const registryOf = (memberId: string) =>
    createSharedJetStreamRegistry(database.queries, { memberId, leaseOf: (id) => leases.get(memberId)?.get(id) });
  const hold = async (memberId: string, pipelineId: string, token: number): Promise<void> => {
    leases.get(memberId)?.set(pipelineId, token);
    await database.pool?.query(
      `insert into engine_leases (pipeline_id, member_id, token) values ($2, $1, $3)
       on conflict (pipeline_id) do update set member_id = excluded.member_id, token = excluded.token`,
      [memberId, pipelineId, token],
    );
  };
  beforeAll(async () => {
    database = await databases.open();
    if (!database.pool) throw new Error('This is not PostgreSQL.');
    const members = createEngineMembers(database.pool);
    for (const id of ['one', 'two']) await members.renew(id, 60_000, false);
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });

  it('advances positions for the holder of the lease only, and those of other pipelines in the same statement', async () => {
    const [one, two] = [registryOf('one'), registryOf('two')];
    await hold('one', 'p', 1);
    await hold('one', 'q', 1);
    for (const name of ['p.in', 'q.in']) await two.declare(name, 0, [{ name: 'a' }], 1);
    await one.savePosition('p.in', 'a', at(1));
    await expect(two.savePosition('p.in', 'a', at(9))).rejects.toMatchObject({ code: 'fenced' });
    // `one` was paused, and does not know it yet.
    await hold('two', 'p', 2);
    const [lost, kept] = await Promise.allSettled([
      one.savePosition('p.in', 'a', at(5)),
      one.savePosition('q.in', 'a', at(5)),
    ]);
    expect([lost.status, kept.status]).toEqual(['rejected', 'fulfilled']);
    await two.savePosition('p.in', 'a', at(3));
    // An earlier position is no loss of the lease.
    await two.savePosition('p.in', 'a', at(2));
    expect((await one.read('p.in'))?.consumers).toEqual([{ name: 'a', position: at(3) }]);
    expect((await one.read('q.in'))?.consumers).toEqual([{ name: 'a', position: at(5) }]);
  });

  it('keeps the consumers of the latest version, and where the first process has placed them', async () => {
    const [one, two] = [registryOf('one'), registryOf('two')];
    await one.declare('v.in', 2, [{ name: 'a' }, { name: 'b' }], 7);
    expect(await two.declare('v.in', 3, [{ name: 'a' }], 6)).toEqual({
      shard: 2,
      consumers: [{ name: 'a' }, { name: 'b' }],
    });
    const starts = await Promise.all([one.place('v.in', 'b', at(4)), two.place('v.in', 'b', at(8))]);
    expect(new Set(starts.map(({ number }) => number)).size).toBe(1);
    expect((await two.declare('v.in', 0, [{ name: 'b' }], 7)).consumers).toEqual([{ name: 'b', position: starts[0] }]);
  });

  it('rejects the declarations of a member that has expired', async () => {
    await database.pool?.query(`update engine_members set expires_at = 0 where id = 'two'`);
    await expect(registryOf('two').declare('late.in', 0, [], 1)).rejects.toMatchObject({ code: 'fenced' });
  });
});
