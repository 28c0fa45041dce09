import { systemClock } from '@connector-frame/engine';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { postgresql } from '../../../../../test/support/databases.js';
import { createLog } from '../../log.js';
import { createEngineMembers } from '../../store/engine-members.js';
import { Assignments } from './assignments.js';

const databases = postgresql();
afterAll(() => databases.close());

/** A database with pipelines, and members that share them. */
async function openWorld(pipelines: number) {
  const database = await databases.open();
  const { pool } = database;
  if (!pool) throw new Error('This is not PostgreSQL.');
  onTestFinished(() => database.close());
  await pool.query(`insert into organizations (id, name, description, friendly_name, allowed_origins, created_at, updated_at)
    values ('o', 'O', '', '', '{}', now(), now())`);
  await pool.query(
    `insert into pipelines select (jsonb_populate_record(null::pipelines, jsonb_build_object(
       'id', 'p' || n, 'organization_id', 'o', 'name', 'P', 'description', '', 'nodes', '[]'::jsonb, 'edges', '[]'::jsonb,
       'enabled', true, 'version', 1, 'created_at', now(), 'updated_at', now()))).* from generate_series(1, $1) as n`,
    [pipelines],
  );
  const members = createEngineMembers(pool);
  const running = new Map<string, Assignments>();
  const held = async (): Promise<Record<string, number>> => {
    const { rows } = await pool.query<{ member_id: string | null; n: number }>(
      'select member_id, count(*)::int as n from engine_leases group by 1 order by 1',
    );
    return Object.fromEntries(rows.map((row) => [row.member_id ?? 'free', row.n]));
  };
  return {
    pool,
    members,
    held,
    join(id: string, handedOver: string[] = []): Assignments {
      const assignments = new Assignments({
        memberId: id,
        members,
        clock: systemClock,
        log: createLog('silent'),
        onChange: () => undefined,
        handOver: async (pipelineId) => {
          handedOver.push(pipelineId);
          await assignments.release(pipelineId);
        },
        notify: () => running.forEach((each, other) => other !== id && each.wake()),
      });
      running.set(id, assignments);
      onTestFinished(async () => {
        running.delete(id);
        await assignments.close();
      });
      assignments.start();
      return assignments;
    },
  };
}

it('shares pipelines evenly, hands over what is too much, and takes what a member leaves', async () => {
  const world = await openWorld(11);
  const handedOver: string[] = [];
  const one = world.join('one', handedOver);
  await expect.poll(world.held).toEqual({ one: 11 });
  const two = world.join('two');
  await expect.poll(world.held).toEqual({ one: 6, two: 5 });
  expect(handedOver).toHaveLength(5);
  for (const id of handedOver) expect(one.tokenOf(id)).toBeUndefined();
  for (const id of handedOver) expect(two.tokenOf(id)).toBe(2);
  world.join('zoe');
  await expect.poll(world.held).toEqual({ one: 4, two: 4, zoe: 3 });
  await two.leave();
  await two.close();
  await expect.poll(world.held).toEqual({ one: 6, zoe: 5 });
});

it('takes the pipelines of a member that has expired, with higher tokens', async () => {
  const world = await openWorld(4);
  await world.members.renew('dead', 60_000, false);
  const dead = await world.members.acquire('dead', 10);
  expect(dead).toHaveLength(4);
  const one = world.join('one');
  await expect.poll(async () => (await world.members.renew('dead', 60_000, false))?.members).toEqual(['dead', 'one']);
  expect(await world.held()).toEqual({ dead: 4 });
  await world.pool.query(`update engine_members set expires_at = 0 where id = 'dead'`);
  await expect.poll(world.held).toEqual({ one: 4 });
  for (const { pipelineId, token } of dead) expect(one.tokenOf(pipelineId)).toBeGreaterThan(token);
  // The late member can neither release nor keep them.
  await world.members.release('dead', dead);
  expect(await world.members.renew('dead', 60_000, false)).toMatchObject({ assigned: [] });
  expect(await world.held()).toEqual({ one: 4 });
});

it('gives each free pipeline to one of several members that ask at once', async () => {
  const world = await openWorld(50);
  const ids = ['a', 'b', 'c', 'd'];
  await Promise.all(ids.map((id) => world.members.renew(id, 60_000, false)));
  const acquired = (await Promise.all(ids.map((id) => world.members.acquire(id, 40)))).flat();
  expect(new Set(acquired.map(({ pipelineId }) => pipelineId)).size).toBe(acquired.length);
  expect(Object.values(await world.held()).reduce((sum, n) => sum + n, 0)).toBe(acquired.length);
});
