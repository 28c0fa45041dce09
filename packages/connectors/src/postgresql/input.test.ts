import { expect, test } from 'vitest';
import { Databases, Reader } from '../../../../test/support/postgresql-reading.js';

const databases = new Databases();

test('new rows of every table with a key come once, with where they are from', async () => {
  await databases.query(`CREATE TABLE a (id serial PRIMARY KEY, body text); CREATE TABLE b (id int, updated_at timestamptz);
    CREATE TABLE c (note text); INSERT INTO a (body) VALUES ('one'), ('two');
    INSERT INTO b VALUES (1, '2026-01-02 03:04:05.678901+00')`);
  const reader = new Reader(databases.open());
  expect(await reader.pass()).toEqual([
    { _schema: 'public', _table: 'a', id: 1, body: 'one' },
    { _schema: 'public', _table: 'a', id: 2, body: 'two' },
    { _schema: 'public', _table: 'b', id: 1, updated_at: '2026-01-02T03:04:05.678901+00:00' },
  ]);
  expect(await reader.pass()).toEqual([]);
  await databases.query(`INSERT INTO a (body) VALUES ('three')`);
  expect(await reader.pass()).toEqual([{ _schema: 'public', _table: 'a', id: 3, body: 'three' }]);
  expect(await reader.pass()).toEqual([]);
});

test('values keep every digit', async () => {
  await databases.query(`CREATE TYPE pair AS (x int, y text);
    CREATE TABLE v (id bigint PRIMARY KEY, big bigint, exact numeric, small numeric, nan numeric, f float8, at timestamp,
      day date, raw bytea, list int[], nested text[][], j json, jb jsonb, p pair, yes boolean, none text, span interval,
      _table text);
    INSERT INTO v VALUES (9223372036854775807, 9007199254740993, 12345678901234567890.123456789012345678, 1.50, 'NaN',
      0.1, '2026-01-02 03:04:05.000001', '2026-01-02', '\\xdeadbeef', '{1,2}', '{{a,b},{c,d}}',
      '{"n": 12345678901234567890}', '{"n": 1.25, "s": "x\\u00e9"}', '(1,z)', true, NULL, '1 day', 'mine')`);
  expect(await new Reader(databases.open()).pass()).toEqual([
    {
      _schema: 'public',
      _table: 'mine',
      id: '9223372036854775807',
      big: '9007199254740993',
      exact: '12345678901234567890.123456789012345678',
      small: 1.5,
      nan: 'NaN',
      f: 0.1,
      at: '2026-01-02T03:04:05.000001',
      day: '2026-01-02',
      raw: '\\xdeadbeef',
      list: [1, 2],
      nested: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      j: { n: '12345678901234567890' },
      jb: { n: 1.25, s: 'xé' },
      p: { x: 1, y: 'z' },
      yes: true,
      none: null,
      span: '1 day',
    },
  ]);
});

test('many rows with one time, in pages', async () => {
  await databases.query(`CREATE TABLE t (id int PRIMARY KEY, updated_at timestamptz);
    INSERT INTO t SELECT n, '2026-01-01' FROM generate_series(1, 12000) n ORDER BY random()`);
  const tables = [{ table: 't', cursor_column: 'updated_at' }];
  const reader = new Reader(databases.open({ tables }));
  await reader.pass(3);
  // Another process continues from the cursor.
  reader.input = databases.open({ tables });
  await reader.pass();
  expect(reader.ids()).toEqual(Array.from({ length: 12_000 }, (_each, index) => index + 1));
  expect(reader.pages).toBeGreaterThan(10);
  await databases.query(`UPDATE t SET updated_at = '2026-02-01' WHERE id = 77`);
  expect(await reader.pass()).toMatchObject([{ id: 77, updated_at: '2026-02-01T00:00:00+00:00' }]);
});

test('a table without a key, a time that is absent, and one that is far ahead', async () => {
  await databases.query(`CREATE TABLE t (id int, created_at timestamp);
    INSERT INTO t VALUES (1, now()), (1, now()), (2, NULL), (3, 'infinity')`);
  const reader = new Reader(databases.open());
  await reader.pass();
  expect(reader.ids()).toEqual([1, 1, 3]);
  await databases.query(`INSERT INTO t VALUES (4, now())`);
  await reader.pass();
  await databases.query(`INSERT INTO t VALUES (5, now()); UPDATE t SET created_at = now() WHERE id = 2`);
  await reader.pass();
  expect(reader.ids()).toEqual([1, 1, 3, 4, 5, 2]);
});

test('an emptied table that counts from one again, one that was rewritten, one that was made anew', async () => {
  await databases.query(`CREATE TABLE t (id serial PRIMARY KEY); INSERT INTO t SELECT FROM generate_series(1, 5000)`);
  const reader = new Reader(databases.open());
  await reader.pass();
  await reader.pass();
  await databases.query('VACUUM FULL t');
  expect(await reader.pass()).toEqual([]);
  await databases.query('TRUNCATE t RESTART IDENTITY; INSERT INTO t DEFAULT VALUES');
  expect((await reader.pass()).map(({ id }) => id)).toEqual([1]);
  await databases.query('DROP TABLE t; CREATE TABLE t (id serial PRIMARY KEY); INSERT INTO t DEFAULT VALUES');
  expect((await reader.pass()).map(({ id }) => id)).toEqual([1]);
  expect(await reader.pass()).toEqual([]);
});

test('a table that is gone and a column that has another name are told, the others go on', async () => {
  await databases.query(`CREATE TABLE a (id serial PRIMARY KEY); CREATE TABLE b (id serial PRIMARY KEY);
    CREATE TABLE c (id serial PRIMARY KEY)`);
  const tables = [{ table: 'a' }, { table: 'b', cursor_column: 'id' }, { table: 'c' }];
  const reader = new Reader(databases.open({ tables }));
  await reader.pass();
  await databases.query(`DROP TABLE a; ALTER TABLE b RENAME id TO number; INSERT INTO c DEFAULT VALUES`);
  await expect(reader.pass()).rejects.toMatchObject({
    code: 'not_found',
    kind: 'permanent',
    message: 'The table a does not exist.',
  });
  expect(reader.ids()).toEqual([1]);
  const one = new Reader(databases.open({ tables: tables.slice(1) }));
  await expect(one.pass()).rejects.toMatchObject({ kind: 'permanent', message: 'The table b has no column id.' });
  expect(one.ids()).toEqual([1]);
});

test('a table of a schema whose time column is gone is told', async () => {
  await databases.query(`CREATE TABLE a (updated_at timestamptz); CREATE TABLE b (id serial PRIMARY KEY)`);
  const reader = new Reader(databases.open());
  await reader.pass();
  await databases.query('ALTER TABLE a DROP updated_at');
  await expect(reader.pass()).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
});

test('a view has no order of its own', async () => {
  await databases.query('CREATE VIEW w AS SELECT 1 AS id');
  await expect(new Reader(databases.open({ tables: [{ table: 'w' }] })).pass()).rejects.toMatchObject({
    kind: 'permanent',
  });
});

test('nothing is written, and names are only names', async () => {
  const name = `x"; DROP TABLE keep; --`;
  await databases.query(`CREATE TABLE keep (id int PRIMARY KEY);
    CREATE TABLE "x""; DROP TABLE keep; --" ("c""x" int PRIMARY KEY); INSERT INTO "x""; DROP TABLE keep; --" VALUES (1)`);
  const reader = new Reader(databases.open({ tables: [{ table: name, cursor_column: 'c"x' }] }));
  expect(await reader.pass()).toMatchObject([{ 'c"x': 1, _table: name }]);
  expect((await databases.query('SELECT count(*)::int AS n FROM keep')).rows).toEqual([{ n: 0 }]);
});

test('a row too large for a batch is named, not passed over, and memory stays bounded', async () => {
  await databases.query(`CREATE TABLE t (id serial PRIMARY KEY, body text);
    INSERT INTO t (body) SELECT repeat('x', 400000) FROM generate_series(1, 100);
    INSERT INTO t (body) VALUES (repeat('y', 3000000)), ('small')`);
  const reader = new Reader(databases.open());
  const sizes: number[] = [];
  for await (const { records } of reader.input.pages(undefined, new AbortController().signal))
    sizes.push(records.length);
  expect(sizes.length).toBeGreaterThan(1);
  expect((await reader.pass()).slice(-2)).toEqual([
    { _schema: 'public', _table: 't', id: '101', _omitted: 'too_large', _bytes: 3_000_020 },
    { _schema: 'public', _table: 't', id: 102, body: 'small' },
  ]);
});
