import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { startPostgres, type Postgres } from '../../../../test/support/postgres.js';
import { createEgress } from '@connector-frame/engine/egress';
import { systemClock } from '@connector-frame/engine/connector-api';
import type { PipelineRunner } from '@connector-frame/engine';
import { graph, openWorld } from '@connector-frame/engine/testing';
import { createPostgresqlInput } from './input.js';
import { createPostgresqlOutput } from './output.js';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ settings: { autovacuum: 'off' } });
});
afterAll(() => server.close());

const PAGE = 1_000;
const TOTAL = 10_000;

test('copies a table that is being written across disconnects and restarts, repeating at most one page each', async () => {
  const url = new URL(server.url);
  const admin = new Client({ connectionString: server.url });
  admin.on('error', () => undefined);
  await admin.connect();
  await admin.query(
    `CREATE TABLE source (id bigserial PRIMARY KEY, n int); CREATE TABLE copy (id bigint, n int, _table text)`,
  );
  const place = { host: url.hostname, port: Number(url.port), database: 'postgres' };
  const secrets = { password: url.password };
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const context = { egress, clock: systemClock };
  const world = await openWorld();
  const start = async (holder: string): Promise<PipelineRunner> => {
    const reading = { ...place, username: 'postgres', tables: [{ table: 'source' }], ssl_mode: { mode: 'disable' } };
    const input = createPostgresqlInput(
      { settings: reading, secrets },
      { ...context, type: typeOf('input:postgresql') },
    );
    const writing = { ...place, user: 'postgres', table: 'copy' };
    const output = createPostgresqlOutput(
      { settings: writing, secrets },
      { ...context, type: typeOf('output:postgresql') },
    );
    const made = world.runner({
      definition: graph('i o', 'i>o'),
      inputs: { i: { ...input, intervalMs: 20 } },
      outputs: { o: output },
      holder,
    });
    await made.start();
    return made;
  };
  const writing = (async () => {
    const writer = new Client({ connectionString: server.url });
    await writer.connect();
    for (let n = 0; n < TOTAL; n += 100) {
      await writer.query('INSERT INTO source (n) SELECT $1 + i FROM generate_series(0, 99) i', [n]);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await writer.end();
  })();
  const copied = async (): Promise<number> =>
    Number((await admin.query('SELECT count(DISTINCT n)::int AS n FROM copy')).rows[0]?.['n']);
  let disturbances = 0;
  let running = await start('first');
  for (const goal of [1_000, 2_500, 4_000, 5_500, 7_000]) {
    await expect.poll(copied, { interval: 20 }).toBeGreaterThan(goal);
    disturbances += 1;
    if (disturbances % 2 === 0) {
      await running.stop();
      running = await start(`worker-${disturbances}`);
    } else {
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'connector-frame'`,
      );
    }
  }
  await writing;
  await expect.poll(copied).toBe(TOTAL);
  await running.stop();
  const { rows } = await admin.query('SELECT count(*)::int AS n, count(_table)::int AS named FROM copy');
  expect(rows[0]?.['n']).toBeLessThanOrEqual(TOTAL + disturbances * PAGE);
  expect(rows[0]?.['named']).toBe(rows[0]?.['n']);
  await admin.end();
});
