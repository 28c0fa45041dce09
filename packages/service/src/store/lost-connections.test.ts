import { connect, createServer, type Socket } from 'node:net';
import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { postgresql } from '../../../../test/support/databases.js';
import { systemClock } from '@connector-frame/engine';
import { listenForChanges } from '../pipelines/running/change-notifications.js';
import { createStore } from './create-store.js';
import { postgresDatabase, type Database } from './database.js';
import { loadMigrations, migrate } from './migrate.js';

const databases = postgresql();
let url: string;
beforeAll(async () => {
  url = await databases.url();
});
afterAll(() => databases.close());

/** Opens a database through a proxy that can reset its connections. */
async function behindNetwork(): Promise<{ database: Database; reset: () => void; open: () => number }> {
  const server = new URL(url);
  const pairs = new Set<Socket>();
  const proxy = createServer((socket) => {
    const inner = connect(Number(server.port), server.hostname);
    pairs.add(socket);
    for (const [one, other] of [
      [socket, inner],
      [inner, socket],
    ] as const)
      one
        .on('error', () => undefined)
        .on('close', () => other.destroy())
        .pipe(other);
    socket.once('close', () => pairs.delete(socket));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  const through = new URL(url);
  through.port = String(typeof address === 'object' ? address?.port : 0);
  const database = postgresDatabase({ connectionString: through.href }, () => undefined);
  onTestFinished(async () => {
    await database.close();
    proxy.close();
  });
  await migrate(database, await loadMigrations());
  return {
    database,
    reset: () => pairs.forEach((socket) => socket.resetAndDestroy()),
    open: () => pairs.size,
  };
}

/**
 * Waits until the test runner would have reported an error event without a listener, which would
 * end the process.
 */
const turns = () => new Promise((resolve) => setTimeout(resolve, 100));

it('a connection reset fails its transaction, but not the process', async () => {
  const { database, reset } = await behindNetwork();
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
  reset();
  await turns();
  progress.emit('over');
  await failed;
  expect(await store.organizations.get('none')).toBeUndefined();
});

it('listenForChanges reconnects after a connection reset', async () => {
  const { database, reset, open } = await behindNetwork();
  const over = new AbortController();
  const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(20, signal) };
  const heard: string[] = [];
  const listening = listenForChanges(database, (id) => heard.push(id), over.signal, clock);
  await expect.poll(open).toBeGreaterThan(0);
  await turns();
  reset();
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
