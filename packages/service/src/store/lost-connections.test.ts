import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startDatabaseProxy, type DatabaseProxy } from '../../../../test/support/database-proxy.js';
import { postgresql } from '../../../../test/support/databases.js';
import { systemClock } from '@connector-frame/engine';
import { listenForChanges } from '../pipelines/running/change-notifications.js';
import { createStore } from './create-store.js';
import { postgresDatabase, type Database, type DatabaseTimeouts } from './database.js';
import { loadMigrations, migrate } from './migrate.js';

const databases = postgresql();
let url: string;
beforeAll(async () => {
  url = await databases.url();
});
afterAll(() => databases.close());

/** Opens a database through a proxy that can reset its connections. */
async function behindNetwork(timeouts?: DatabaseTimeouts): Promise<{ database: Database; proxy: DatabaseProxy }> {
  const proxy = await startDatabaseProxy(url);
  const database = postgresDatabase({ connectionString: proxy.url }, () => undefined, timeouts);
  onTestFinished(async () => {
    await database.close();
    await proxy.close();
  });
  await migrate(database, await loadMigrations());
  return { database, proxy };
}

/**
 * Waits until the test runner would have reported an error event without a listener, which would
 * end the process.
 */
const turns = () => new Promise((resolve) => setTimeout(resolve, 100));

it('a connection reset fails its transaction, but not the process', async () => {
  const { database, proxy } = await behindNetwork();
  const store = createStore(database);
  const progress = new EventEmitter();
  const [begun, over] = [once(progress, 'begun'), once(progress, 'over')];
  const transaction = store.transaction(async (tables) => {
    await tables.organizations.get('none');
    progress.emit('begun');
    await over;
    return tables.organizations.get('none');
  });
  const failed = expect(transaction).rejects.toThrow();
  await begun;
  proxy.reset();
  await turns();
  progress.emit('over');
  await failed;
  expect(await store.organizations.get('none')).toBeUndefined();
});

it('listenForChanges reconnects after a connection reset', async () => {
  const { database, proxy } = await behindNetwork();
  const over = new AbortController();
  const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(20, signal) };
  const heard: string[] = [];
  const listening = listenForChanges(database, (id) => heard.push(id), over.signal, clock);
  await expect.poll(() => proxy.connections()).toBeGreaterThan(0);
  await turns();
  proxy.reset();
  await turns();
  await expect
    .poll(async () => {
      await database.pool?.query(`select pg_notify('connector_frame_pipelines', 'p')`);
      return heard.length;
    })
    .toBeGreaterThan(0);
  over.abort();
  await listening;
});

it('listenForChanges ends if it is aborted while it connects', async () => {
  const { database } = await behindNetwork();
  const over = new AbortController();
  const listening = listenForChanges(database, () => undefined, over.signal, systemClock);
  over.abort();
  await listening;
  expect(over.signal.aborted).toBe(true);
});

it('listenForChanges replaces a connection that no longer responds', async () => {
  const { database, proxy } = await behindNetwork({ connect: 500, statement: 300, response: 400 });
  const over = new AbortController();
  const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(20, signal) };
  const listening = listenForChanges(database, () => undefined, over.signal, clock);
  await expect.poll(() => proxy.connections()).toBeGreaterThan(0);
  await database.pool?.query('select 1');
  const before = proxy.accepted();
  // Nothing closes the connection: each side waits for the other.
  proxy.stall();
  await expect.poll(() => proxy.accepted()).toBeGreaterThan(before);
  over.abort();
  await listening;
});

it('an outage does not use up the connections of the pool', async () => {
  const { database, proxy } = await behindNetwork({ connect: 500, statement: 300, response: 400 });
  const store = createStore(database);
  const read = () => store.transaction((tables) => tables.organizations.get('none'));
  const all = () => Promise.allSettled(Array.from({ length: 20 }, read));
  await all();
  // Idle connections that no longer respond: `begin` fails on them.
  proxy.stall();
  for (const { status } of await all()) expect(status).toBe('rejected');
  await proxy.restore();
  // On a busy machine, a new connection can exceed these short time limits.
  await expect.poll(async () => (await all()).every(({ status }) => status === 'fulfilled')).toBe(true);
});
