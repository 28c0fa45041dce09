import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../../../test/support/coordinator-contract.js';
import { embedded } from '../../../../../test/support/databases.js';
import { createLog } from '../../log.js';
import type { Database } from '../../store/database.js';
import { createEngineState, type EngineState } from '../../store/engine-state.js';
import { EngineInUseError, acquireEngineLease } from './engine-lease.js';

let database: Database;
beforeAll(async () => {
  database = await embedded().open();
});

/** Clears the engine's state, so that the engine sees a new database. */
async function emptyState(): Promise<EngineState> {
  await database.script((run) => run('delete from engine_state'));
  return createEngineState(database.queries);
}
async function someFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lease-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
const log = createLog('silent');

it('grants the lease to one process per database until it is released', async () => {
  const [state, clock] = [await emptyState(), new ManualClock()];
  const folder = await someFolder();
  const first = await acquireEngineLease({ folder, state, clock, log });
  const refused = acquireEngineLease({ folder: await someFolder(), state, clock, log });
  await expect(refused).rejects.toThrow(EngineInUseError);
  await expect(refused).rejects.toThrow(/ENGINE=off.*15 seconds/);
  await first.release();
  const other = await acquireEngineLease({ folder: await someFolder(), state, clock, log });
  expect(other.epoch).toBeGreaterThan(first.epoch);
  expect(other.holder).not.toBe(first.holder);
  await other.release();
  // The same folder keeps its holder name.
  const again = await acquireEngineLease({ folder, state, clock, log });
  expect([again.holder, again.epoch > other.epoch]).toEqual([first.holder, true]);
  await again.release();
});

it('signals the loss when another process takes over an expired lease', async () => {
  const [state, clock, late] = [await emptyState(), new ManualClock(), new ManualClock()];
  const first = await acquireEngineLease({ folder: await someFolder(), state, clock, log });
  // The first process hangs while the clock of the second one advances.
  late.advance(15_001);
  const second = await acquireEngineLease({ folder: await someFolder(), state, clock: late, log });
  expect(first.lost.aborted).toBe(false);
  clock.advance(5_000);
  await expect.poll(() => first.lost.aborted).toBe(true);
  expect(second.lost.aborted).toBe(false);
  await first.release();
  late.advance(5_000);
  await second.release();
});

it('renews an expired lease if no other process took it over', async () => {
  const [state, clock] = [await emptyState(), new ManualClock()];
  const lease = await acquireEngineLease({ folder: await someFolder(), state, clock, log });
  clock.advance(3_600_000);
  const version = async () => (await state.get('lease:engine/'))?.version;
  const before = await version();
  await expect.poll(version).not.toBe(before);
  expect(lease.lost.aborted).toBe(false);
  await lease.release();
});

it('rejects a folder with buffers of another database', async () => {
  const folder = await someFolder();
  const clock = new ManualClock();
  await (await acquireEngineLease({ folder, state: await emptyState(), clock, log })).release();
  await expect(acquireEngineLease({ folder, state: await emptyState(), clock, log })).rejects.toThrow(
    'another database',
  );
});
