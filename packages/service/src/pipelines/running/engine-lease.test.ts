import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../../../test/support/coordinator-contract.js';
import { eachDatabase } from '../../../../../test/support/databases.js';
import { expireEngineLease } from '../../../../../test/support/engine-lease.js';
import { createLog } from '../../log.js';
import type { Database } from '../../store/database.js';
import { createEngineLeases } from '../../store/engine-leases.js';
import { createEngineState, LeaseLostError } from '../../store/engine-state.js';
import { EngineInUseError, acquireEngineLease, type EngineLease } from './engine-lease.js';

const log = createLog('silent');

async function someFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lease-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe.each(eachDatabase())('the engine lease on $name', (databases) => {
  let database: Database;
  beforeAll(async () => {
    database = await databases.open();
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });

  /** Clears the engine's state, so that the engine sees a new database. */
  const emptyDatabase = () => database.script((run) => run('delete from engine_state'));
  const leases = () => createEngineLeases(database.queries);
  const acquire = (folder: string, clock = new ManualClock()): Promise<EngineLease> =>
    acquireEngineLease({ folder, state: createEngineState(database.queries), leases: leases(), clock, log });
  const stateOf = (lease: EngineLease, queries = database.queries) =>
    createEngineState(queries, { token: lease.epoch, onLost: () => lease.lose() });

  it('is granted to one process per database until it is released', async () => {
    await emptyDatabase();
    const folder = await someFolder();
    const first = await acquire(folder);
    const refused = acquire(await someFolder());
    await expect(refused).rejects.toThrow(EngineInUseError);
    await expect(refused).rejects.toThrow(/ENGINE=off.*1[45] seconds/);
    await first.release();
    const other = await acquire(await someFolder());
    expect(other.epoch).toBeGreaterThan(first.epoch);
    expect(other.holder).not.toBe(first.holder);
    await other.release();
    // The same folder keeps its holder name.
    const again = await acquire(folder);
    expect([again.holder, again.epoch > other.epoch]).toEqual([first.holder, true]);
    await again.release();
  });

  it('is granted to one of many processes that start together', async () => {
    await emptyDatabase();
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, n) => leases().acquire(`holder-${n}`, 15_000)));
    expect(tokens.filter((token) => token !== undefined)).toHaveLength(1);
  });

  it('signals the loss when another process takes over an expired lease', async () => {
    await emptyDatabase();
    const clock = new ManualClock();
    const first = await acquire(await someFolder(), clock);
    await expireEngineLease(database);
    const second = await acquire(await someFolder());
    expect(first.lost.aborted).toBe(false);
    clock.advance(5_000);
    await expect.poll(() => first.lost.aborted).toBe(true);
    expect(second.lost.aborted).toBe(false);
    await first.release();
    // The release of a lost lease does not release that of the new holder.
    expect(await leases().current()).toMatchObject({ holder: second.holder });
    await second.release();
  });

  it('is renewed after it expired if no other process took it over', async () => {
    await emptyDatabase();
    const clock = new ManualClock();
    const lease = await acquire(await someFolder(), clock);
    await expireEngineLease(database);
    expect(await leases().current()).toBeUndefined();
    clock.advance(5_000);
    await expect.poll(() => leases().current()).toMatchObject({ holder: lease.holder });
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
  });

  it('rejects the first write of a process that was paused while another one took over', async () => {
    await emptyDatabase();
    const first = await acquire(await someFolder());
    const paused = stateOf(first);
    expect(await paused.compareAndSet('cursor:p/in/', 0, { page: 1 })).toBe(1);
    await expireEngineLease(database);
    const second = await acquire(await someFolder());
    const writes = [
      () => paused.compareAndSet('cursor:p/in/', 1, { page: 2 }),
      () => paused.compareAndSet('cursor:p/new/', 0, { page: 2 }),
      () => paused.put(new Map([['report:p/', { token: first.epoch, late: true }]])),
      () => paused.removeAll('cursor:p/'),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow(LeaseLostError);
    expect(first.lost.aborted).toBe(true);
    const current = stateOf(second);
    expect(await current.keys('cursor:')).toEqual(['cursor:p/in/']);
    expect(await current.keys('report:')).toEqual([]);
    expect(await current.get('cursor:p/in/')).toEqual({ version: 1, value: { page: 1 } });
    expect(await current.compareAndSet('cursor:p/in/', 1, { page: 2 })).toBe(2);
    // A conflict with the lease held is not a loss.
    expect(await current.compareAndSet('cursor:p/in/', 1, { page: 3 })).toBeUndefined();
    expect(second.lost.aborted).toBe(false);
    for (const each of [first, second]) await each.release();
  });

  it('rejects a folder with buffers of another database', async () => {
    await emptyDatabase();
    const folder = await someFolder();
    await (await acquire(folder)).release();
    await emptyDatabase();
    await expect(acquire(folder)).rejects.toThrow('another database');
  });

  it('continues the lease of an earlier release, whose expiry was on its own clock', async () => {
    await emptyDatabase();
    const expires = Date.now() + 60_000;
    await database.script((run) =>
      run(
        `insert into engine_state values ('lease:engine/', 7, '{"holder":"old","token":41,"expires_at":${expires}}')`,
      ),
    );
    expect(await leases().acquire('new', 15_000)).toBeUndefined();
    expect(await leases().acquire('old', 15_000)).toBe(42);
    await leases().release(42);
    expect(await leases().acquire('new', 15_000)).toBe(43);
  });

  if (databases.name === 'PostgreSQL')
    it('is not taken over between the check of a write and the write', async () => {
      await emptyDatabase();
      const first = await acquire(await someFolder());
      await expireEngineLease(database);
      let second: Promise<number | undefined> | undefined;
      let isTaken = false;
      await database.transaction(async (queries) => {
        await stateOf(first, queries).put(new Map([['report:p/', {}]]));
        second = leases().acquire('other', 15_000);
        void second.then(() => (isTaken = true));
        await expect
          .poll(async () => {
            const { rows = [] } = (await database.pool?.query('select 1 from pg_locks where not granted')) ?? {};
            return rows.length;
          })
          .toBeGreaterThan(0);
        expect(isTaken).toBe(false);
      });
      expect(await second).toBe(first.epoch + 1);
      await first.release();
    });
});
