import { createEmbeddedCoordinator, type JsonValue } from '@connector-frame/engine';
import { beforeEach, expect, it } from 'vitest';
import { ManualClock } from '../../../../../test/support/coordinator-contract.js';
import { anyDatabase } from '../../../../../test/support/databases.js';
import type { Database } from '../../store/database.js';
import { createEngineState, type EngineState } from '../../store/engine-state.js';
import { createEngineStore } from './engine-store.js';

let database: Database;
let asked: string[];
let state: EngineState;

beforeEach(async () => {
  database ??= await anyDatabase().open();
  await database.script((run) => run('delete from engine_state'));
  asked = [];
  const real = createEngineState(database.queries);
  state = {
    ...real,
    get: (key) => (asked.push(`get ${key}`), real.get(key)),
    compareAndSet: (key: string, version: number, value: JsonValue) => (
      asked.push(`set ${key}`),
      real.compareAndSet(key, version, value)
    ),
    put: (values) => (asked.push(...[...values.keys()].map((key) => `put ${key}`)), real.put(values)),
  };
});

const clock = new ManualClock();
const over = (epoch: number) => {
  const store = createEngineStore(state, epoch);
  return { store, coordinator: createEmbeddedCoordinator({ store, now: () => clock.now() }) };
};
const TTL = 60_000;

it('writes each committed cursor to the database with a single operation', async () => {
  const { coordinator } = over(1);
  const lease = await coordinator.acquire('p', 'one', TTL);
  if (!lease) throw new Error('no lease');
  const cursor = await coordinator.openCursor(lease, 'p/in');
  expect(cursor).toEqual({ version: 0 });
  asked.length = 0;
  for (let version = 0; version < 3; version += 1) {
    expect(await coordinator.commitCursor(lease, 'p/in', version, { page: version })).toMatchObject({ ok: true });
    expect(await createEngineState(database.queries).get('cursor:p/in/')).toMatchObject({
      value: { version: version + 1, value: { page: version } },
    });
  }
  expect(asked).toEqual(['set cursor:p/in/', 'set cursor:p/in/', 'set cursor:p/in/']);
});

it('rejects cursor commits of a replaced process, regardless of how often it acquired its lease', async () => {
  const before = over(1);
  let old = await before.coordinator.acquire('p', 'one', TTL);
  for (let n = 0; n < 5; n += 1) old = await before.coordinator.acquire('p', 'one', TTL);
  if (!old) throw new Error('no lease');
  await before.coordinator.openCursor(old, 'p/in');
  await before.coordinator.commitCursor(old, 'p/in', 0, 'a');

  const after = over(2);
  const lease = await after.coordinator.acquire('p', 'one', TTL);
  if (!lease) throw new Error('no lease');
  expect(await after.coordinator.openCursor(lease, 'p/in')).toEqual({ version: 1, value: 'a' });
  // The old process still assumes that it holds the lease.
  expect(await before.coordinator.commitCursor(old, 'p/in', 1, 'late')).toEqual({ ok: false, reason: 'fenced' });
  expect(await before.coordinator.openCursor(old, 'p/in')).toBeUndefined();
  expect(await after.coordinator.commitCursor(lease, 'p/in', 1, 'b')).toEqual({ ok: true, version: 2 });
});

it('writes only changed reports on flush, and restores them in the next process', async () => {
  const { store, coordinator } = over(1);
  const lease = await coordinator.acquire('p', 'one', TTL);
  if (!lease) throw new Error('no lease');
  await coordinator.report(lease, 'p', { records: 1 });
  await coordinator.report(lease, 'p', { records: 2 });
  expect(asked.filter((each) => !each.startsWith('get'))).toEqual([]);
  await store.flush();
  expect(asked.filter((each) => each.startsWith('put'))).toEqual(['put report:p/']);
  asked.length = 0;
  clock.advance(5_000);
  await coordinator.report(lease, 'p', { records: 2 });
  await coordinator.renew(lease, TTL);
  await coordinator.setDesired('p', false);
  await store.flush();
  expect(asked).toEqual([]);
  expect(await over(2).coordinator.reported('p')).toMatchObject({ holder: 'one', value: { records: 2 } });
});

it('retries failed writes on the next flush', async () => {
  const { store, coordinator } = over(1);
  const lease = await coordinator.acquire('p', 'one', TTL);
  if (!lease) throw new Error('no lease');
  await coordinator.report(lease, 'p', { records: 1 });
  let isAway = true;
  const real = createEngineState(database.queries);
  state.put = (values) => (isAway ? Promise.reject(new Error('the database is away')) : real.put(values));
  await expect(store.flush()).rejects.toThrow('away');
  isAway = false;
  await store.flush();
  expect(await over(2).coordinator.reported('p')).toMatchObject({ value: { records: 1 } });
});

it('deletes the state of only one pipeline in memory and in the database', async () => {
  const { store, coordinator } = over(1);
  for (const id of ['p', 'p2']) {
    const lease = await coordinator.acquire(id, 'one', TTL);
    if (!lease) throw new Error('no lease');
    await coordinator.openCursor(lease, `${id}/in`);
    await coordinator.commitCursor(lease, `${id}/in`, 0, 'x');
    await coordinator.report(lease, id, 1);
  }
  await coordinator.forget('p');
  await store.flush();
  expect(await state.keys('')).toEqual(['cursor:p2/in/', 'report:p2/']);
  expect(await coordinator.reported('p')).toBeUndefined();
  const lease = await coordinator.acquire('p', 'one', TTL);
  expect(lease && (await coordinator.openCursor(lease, 'p/in'))).toEqual({ version: 0 });
});

it('hands out written reports once, and those of an earlier process when they are first read', async () => {
  const { store, coordinator } = over(1);
  const lease = await coordinator.acquire('p', 'one', TTL);
  if (!lease) throw new Error('no lease');
  await coordinator.report(lease, 'p', { counted: 1 });
  expect(store.takeReports().size).toBe(0);
  await store.flush();
  expect([...store.takeReports()]).toMatchObject([['p', { value: { counted: 1 } }]]);
  expect(store.takeReports().size).toBe(0);

  const next = over(2);
  await next.coordinator.reported('p');
  await next.coordinator.reported('p');
  expect([...next.store.takeReports()]).toMatchObject([['p', { value: { counted: 1 } }]]);
  await next.coordinator.reported('p');
  expect(next.store.takeReports().size).toBe(0);
});
