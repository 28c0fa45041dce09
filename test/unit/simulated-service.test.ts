import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../packages/service/src/store/database.js';
import { startJetStream, type JetStreamServer } from '../support/brokers/jetstream.js';
import { postgresql } from '../support/databases.js';
import { createTestService, type Tenant, type TestService } from '../support/service.js';
import { simulated } from '../support/simulation.js';

/** What `npm run simulate` computes, compared with the database, the buffers and the metrics of real services. */

const TEAMS = 3;
const PIPELINES = 4;
const SPARE = 2;
const STREAMS = 3;
/** Tables whose rows depend on the time, or are there while records wait. */
const OVER_TIME = [
  'pipeline_counts',
  'usage_counts',
  'usage_days',
  'usage_writers',
  'bus_batches',
  'bus_batch_ids',
  'engine_counts',
  'engine_logs',
  'engine_requests',
  // One for each process.
  'engine_members',
];
/** The others are those of processes: leases, and the state of alerts. */
const REPORTS = "where key like 'report:%'";

let server: JetStreamServer;
beforeAll(async () => {
  server = await startJetStream();
});
afterAll(() => server.close());

/** Returns the number of rows of each table. */
async function rowsIn(database: Database): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  await database.script(async (run) => {
    const tables = await run(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    for (const { name } of tables)
      rows[String(name)] = Number(
        (await run(`select count(*) as rows from ${String(name)} ${name === 'engine_state' ? REPORTS : ''}`))[0]?.[
          'rows'
        ],
      );
  });
  return rows;
}

/** Creates teams, connectors and pipelines, and sends a record through each pipeline. */
async function fill(service: TestService, acme: Tenant): Promise<void> {
  const send = async (path: string, body: object) => {
    const response = await service.call('POST', path, { key: acme.key, body });
    expect(response.status, response.text).toBeLessThan(300);
    return response.body;
  };
  const connector = async (kind: string, type: string, settings = {}, secrets = {}): Promise<string> =>
    (await send(`/v2/${acme.team}/${kind}`, { name: type, type, config: { settings, secrets } })).id;
  const okta = [{ org_url: 'https://acme.okta.com' }, { api_key: { value: 'canary-secret-of-this-test' } }] as const;
  for (let team = 0; team < TEAMS; team += 1) await send(`/v3/${acme.id}/organizations`, { name: `Team ${team}` });
  for (let spare = 0; spare < SPARE; spare += 1) await connector('inputs', 'okta-systemlog', ...okta);
  const made: { pipeline: string; input: string }[] = [];
  for (let number = 0; number < PIPELINES; number += 1) {
    const input = await connector('inputs', 'monad-http');
    const nodes = [
      { slug: 'in', component_id: input, component_type: 'input' },
      { slug: 'out', component_id: await connector('outputs', 'dev-null'), component_type: 'output' },
    ];
    const edges = [{ from_node_instance_id: 'in', to_node_instance_id: 'out' }];
    made.push({ input, pipeline: (await send(`/v2/${acme.team}/pipelines`, { name: `P${number}`, nodes, edges })).id });
  }
  for (const { input } of made)
    expect(await service.engine?.append(input, ['{"a":1}'])).toMatchObject({ stored: true });
  for (const { pipeline } of made) {
    const path = `/v2/${acme.team}/pipelines/${pipeline}/status`;
    await expect.poll(async () => (await service.call('GET', path, { key: acme.key })).body.egress.records).toBe(1);
  }
  await service.engine?.storeUsage();
}

it.each(['postgres', 'nats', 'shared', 'shared-nats'])('a real service has what was computed: %s', async (topology) => {
  const folder = await mkdtemp(join(tmpdir(), 'simulate-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const database = await postgresql().open();
  const hasNats = topology.endsWith('nats');
  const nats = { url: server.url, prefix: topology, shards: STREAMS };
  const service = await createTestService({
    database,
    run: {
      folder,
      labeledPipelines: 10,
      ...(hasNats && { nats }),
      ...(topology.startsWith('shared') && { isShared: true }),
    },
  });
  onTestFinished(() => service.close());
  const acme = await service.tenant('Northwind');
  const before = await rowsIn(database);
  await fill(service, acme);
  // Reports are written behind.
  const reports = async () => (await rowsIn(database))['engine_state'];
  await expect.poll(reports).toBe(PIPELINES);

  const connectors = 2 * PIPELINES + SPARE;
  const words = `--organizations ${TEAMS} --pipelines ${PIPELINES} --connectors ${connectors} --records-per-second 1 --processes 1`;
  const environment = {
    DATABASE_URL: 'postgres://localhost/a',
    ...(hasNats && { NATS_STREAMS: `${STREAMS}`, NATS_URL: server.url }),
  };
  const { usage } = simulated(topology, words.split(' '), { environment });
  const lasting = (rows: Record<string, number>) =>
    Object.fromEntries(Object.entries(rows).filter(([table, count]) => count > 0 && !OVER_TIME.includes(table)));
  const added = Object.fromEntries(
    Object.entries(await rowsIn(database)).map(([table, rows]) => [table, rows - (before[table] ?? 0)]),
  );
  expect(lasting(added)).toEqual(lasting(usage.rows));
  // A row for each of two nodes in a minute; the test may have seen two minutes.
  expect(added['usage_counts']).toBeGreaterThanOrEqual(2 * PIPELINES);

  const [{ connections } = {}] = await database.script((run) =>
    run('select count(*) as connections from pg_stat_activity where datname = current_database()'),
  );
  expect(Number(connections)).toBeLessThanOrEqual(usage.connections);
  if (hasNats) {
    const connection = await connect({ servers: server.url });
    const names = await (await jetstreamManager(connection)).streams.names(`${topology}.>`).next();
    await connection.close();
    expect(names).toHaveLength(usage.jetStreamStreams);
  }
  if (topology === 'postgres') expect(await readdir(join(folder, 'streams'))).toHaveLength(usage.streams);

  const metrics = await service.metrics.text();
  expect(metrics.split('\n').filter((line) => line.startsWith('pipeline_node_'))).toHaveLength(usage.series);
  expect(metrics).toContain(`pipelines{status="Running"} ${usage.streams}`);
});
