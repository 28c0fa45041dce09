import { expect, test } from 'vitest';
import { Databases, Reader } from '../../../../test/support/postgresql-reading.js';

const databases = new Databases();

test('reads a row that is committed late with a smaller key', async () => {
  await databases.query(`CREATE TABLE t (id serial PRIMARY KEY, body text); INSERT INTO t (body) VALUES ('first')`);
  const reader = new Reader(databases.open());
  await reader.pass();
  const slow = await databases.connect();
  await slow.query(`BEGIN; INSERT INTO t (body) VALUES ('late')`);
  await slow.query(`SAVEPOINT s; INSERT INTO t (body) VALUES ('late, in a savepoint')`);
  await databases.query(`INSERT INTO t (body) VALUES ('quick')`);
  await reader.pass();
  await reader.pass();
  await slow.query('COMMIT');
  await databases.query(`INSERT INTO t (body) VALUES ('after')`);
  await reader.pass();
  await reader.pass();
  expect(new Set(reader.ids())).toEqual(new Set([1, 2, 3, 4, 5]));
  expect(reader.records).toHaveLength(5);
});

test('reads a recent row that keeps changing in the end', async () => {
  await databases.query(`CREATE TABLE t (id serial PRIMARY KEY, n int); INSERT INTO t (n) VALUES (0)`);
  const reader = new Reader(databases.open());
  await reader.pass();
  const other = await databases.connect();
  for (let turn = 0; turn < 4; turn += 1) {
    // An open transaction makes all rows written after it too recent.
    await other.query('BEGIN; SELECT txid_current()');
    if (turn === 0) await databases.query('INSERT INTO t (n) VALUES (0)');
    await databases.query('UPDATE t SET n = n + 1 WHERE id = 2');
    if (turn > 0) await databases.query('INSERT INTO t (n) VALUES (9)');
    await reader.pass();
    await other.query('COMMIT');
  }
  await reader.pass();
  expect(new Set(reader.ids())).toEqual(new Set([1, 2, 3, 4, 5]));
});

test('reads 10,000 rows during concurrent writes and disconnects without missing one', async () => {
  await databases.query('CREATE TABLE t (id bigserial PRIMARY KEY, worker int, n int)');
  const perWorker = 2_500;
  const writers = [0, 1, 2, 3].map(async (worker) => {
    const client = await databases.connect();
    for (let n = 0; n < perWorker;) {
      const rows = Math.min(perWorker - n, 1 + Math.floor(Math.random() * 80));
      await client.query('BEGIN');
      for (const half of [Math.ceil(rows / 2), Math.floor(rows / 2)]) {
        await client.query('INSERT INTO t (worker, n) SELECT $1, $2 + i FROM generate_series(0, $3 - 1) i', [
          worker,
          n,
          half,
        ]);
        n += half;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
      }
      await client.query('COMMIT');
    }
  });
  let writing = true;
  const written = Promise.all(writers).then(() => (writing = false));
  const reader = new Reader(databases.open());
  let cuts = 0;
  let largest = 0;
  for (let turn = 0, calm = 0; calm < 2; turn += 1) {
    const before = reader.records.length;
    const cut = turn % 4 === 3 && cuts < 5;
    const passing = reader
      .pass()
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'connect_failed', kind: 'retry' }));
    if (cut) {
      await databases.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'connector-frame' AND datname = current_database()`);
      cuts += 1;
      reader.input = databases.open();
    }
    await passing;
    largest = Math.max(largest, reader.records.length - before);
    if (!writing && reader.records.length === before && !cut) calm += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await written;
  const seen = new Map<string, number>();
  for (const { worker, n } of reader.records) {
    const key = JSON.stringify([worker, n]);
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  expect(seen.size).toBe(4 * perWorker);
  // Pages lost to a cut connection were not delivered, so each row is delivered once.
  expect(reader.records.length).toBe(4 * perWorker);
  expect(cuts).toBeGreaterThan(0);
});
