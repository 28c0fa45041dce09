import { systemClock } from '@connector-frame/engine';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { someBatch, take } from '../../../../../test/support/bus-contract.js';
import { postgresql } from '../../../../../test/support/databases.js';
import { Notifications } from '../notifications.js';
import { PostgresBus, type PostgresBusOptions } from './postgres-bus.js';

/** Buses of several processes on one database. */

const databases = postgresql();
afterAll(() => databases.close());

async function openBuses(options: readonly Partial<PostgresBusOptions>[]) {
  const database = await databases.open();
  const { pool } = database;
  if (!pool) throw new Error('This is not PostgreSQL.');
  const notifications = options.map(() => new Notifications(pool, systemClock));
  // Readers that wait are woken by notifications only.
  const buses = options.map(
    (each, index) =>
      new PostgresBus({ pool, notifications: notifications[index] ?? neverThere(), pollMs: 600_000, ...each }),
  );
  for (const each of notifications) each.start();
  onTestFinished(async () => {
    for (const bus of buses) await bus.close();
    for (const each of notifications) await each.close();
    await database.close();
  });
  return { pool, one: buses[0] ?? neverThere(), other: buses[1] ?? neverThere() };
}

function neverThere(): never {
  throw new Error('There are two.');
}

it('delivers what another process publishes, and lets it publish when there is space', async () => {
  const { pool, one, other } = await openBuses([{ maxBytes: 30_000 }, { maxBytes: 30_000 }]);
  await one.declare('s', ['a']);
  const listening = async () => (await pool.query(`select from pg_stat_activity where query ilike 'listen%'`)).rowCount;
  await expect.poll(listening).toBeGreaterThanOrEqual(2);
  const reading = take(one, 'a', 1);
  const first = someBatch();
  await other.publish('s', first);
  expect((await reading).map(({ batch }) => batch.id)).toEqual([first.id]);
  expect(await one.publish('s', first)).toMatchObject({ stored: true, repeated: true });

  await other.publish('s', someBatch(1, 20_000));
  expect(await other.publish('s', someBatch(1, 20_000))).toEqual({ stored: false, reason: 'full' });
  const waiting = other.publish('s', someBatch(1, 20_000), { waitMs: 60_000 });
  await take(one, 'a', 1);
  expect(await waiting).toMatchObject({ stored: true });
});

it('gives batches of two processes one order, in which they became visible', async () => {
  const { one, other } = await openBuses([{}, {}]);
  await one.declare('s', ['a']);
  const reading = take(one, 'a', 200);
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, n) => (n % 2 ? one : other).publish('s', someBatch())),
  );
  const sequences = (await reading).map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(new Set(results.map((each) => each.stored && each.sequence))).toEqual(new Set(sequences));
});

it('keeps consumers that a later version of the pipeline has declared', async () => {
  const { one, other } = await openBuses([{}, {}]);
  await one.declareAt('s', ['a', 'new'], 2);
  const batch = someBatch();
  await one.publish('s', batch);
  await other.declareAt('s', ['a'], 1);
  await take(other, 'a', 1);
  expect((await take(one, 'new', 1)).map(({ batch: { id } }) => id)).toEqual([batch.id]);
  await other.declareAt('s', ['a'], 2);
  await expect(take(one, 'new', 1)).rejects.toMatchObject({ code: 'unknown_consumer' });
});

it('deletes a batch once both of two consumers have passed it at the same time', async () => {
  const { pool, one, other } = await openBuses([{}, {}]);
  await one.declare('s', ['a', 'b']);
  for (let n = 0; n < 50; n += 1) await one.publish('s', someBatch());
  await Promise.all([take(one, 'a', 50), take(other, 'b', 50)]);
  expect((await pool.query('select from bus_batches')).rowCount).toBe(0);
});

it('acknowledges nothing for a process that has lost the lease', async () => {
  const fence = { pipelineId: 's', token: 7 };
  const { pool, one } = await openBuses([{ fenceOf: () => fence }, {}]);
  await pool.query(`insert into engine_leases (pipeline_id, member_id, token) values ('s', 'me', 7)`);
  await one.declare('s', ['a']);
  const sent = [someBatch(), someBatch()];
  for (const each of sent) await one.publish('s', each);
  const [first, second] = await take(one, 'a', 2, false);
  await first?.ack();
  await pool.query(`update engine_leases set member_id = 'other', token = 8`);
  await expect(second?.ack()).rejects.toMatchObject({ code: 'closed' });
  expect(await one.stats('s')).toMatchObject({ batches: 1 });
});
