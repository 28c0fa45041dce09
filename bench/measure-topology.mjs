import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '@connector-frame/engine';
import { memoryOf } from './processes.mjs';
import { divide, httpCosts, mapValues, perUnit, rowsPerUnit } from './slope-costs.mjs';
import { inParallel, LOADS, toolsOf } from './slope-tools.mjs';
import { startTopology } from './topology.mjs';

const TENANTS = 100;
const CONNECTORS = 100;
const PIPELINES = 200;
/** Pipelines that share a load: as many as requests at a time, so that requests to one of them rarely meet. */
const SPREAD = 8;
const WITH_HTTP = 50;
const IDLE_MS = 20_000;
/** Until two processes share the pipelines. */
const SETTLE_MS = 20_000;
/** Until everything that was sent is delivered. */
const DELIVERY_MS = 3_000;
/** Between two reports of a pipeline. */
const REPORT_MS = DEFAULT_LIMITS.report;
const ROUND_MS = 10_000;
const ROUNDS = 6;
const CALLS = 2_000;
const SCRAPES = 20;

const DEV_NULL = { type: 'dev-null', config: { settings: {}, secrets: {} } };
const OKTA = {
  type: 'okta-systemlog',
  config: {
    settings: { org_url: 'https://acme.okta.com' },
    secrets: { api_key: { value: 'canary-secret-of-the-bench' } },
  },
};
const httpTo = (endpoint) => ({
  type: 'http',
  config: { settings: { endpoint, method: 'POST', payload_structure: 'array' }, secrets: {} },
});

/**
 * Measures one topology. Costs are in milliseconds of CPU and in bytes, by role.
 * @param load process that sends requests
 * @param receiver process that the outputs `http` deliver to
 */
export async function measureTopology(name, { load, receiver, log }) {
  const topology = await startTopology(name);
  try {
    const tools = toolsOf(topology, load);
    const { costOf, rows } = tools;
    const idle = async () => perUnit((await costOf(() => sleep(IDLE_MS))).cpu, IDLE_MS / 1_000);
    const memory = async () => {
      const { memory: used } = await topology.service.figures('collect');
      return { heap: used.heapUsed + used.external, resident: await memoryOf(topology.service.pid) };
    };
    await sleep(5_000);
    const result = { base: { memory: await memory(), idle: await idle() }, rows: {}, memory: {} };
    log('base', result.base);

    const made = await fill(topology, tools, result, memory);
    // Until logs and reports of the creation are stored.
    await sleep(30_000);
    const after = await rows();
    result.rows.pipeline = rowsPerUnit(after, made.rows, PIPELINES);
    result.memory.pipelineHeap = ((await memory()).heap - made.heap) / PIPELINES;
    const alone = await idle();
    result.pipelineIdle = mapValues(alone, (ms, role) => (ms - result.base.idle[role]) / PIPELINES);
    log('pipelines', { rows: result.rows, memory: result.memory, idle: result.pipelineIdle });

    let idleNow = alone;
    if (name.startsWith('shared')) {
      // Records reach one process, and half of the pipelines run in the other one.
      await topology.startFurther();
      await sleep(SETTLE_MS);
      idleNow = await idle();
      result.further = mapValues(idleNow, (ms, role) => ms - alone[role]);
      log('further', result.further);
    }

    /** Returns what a request of a load costs, without what the service costs anyway in that time. */
    const costOfRequest = async (work, requests, pipelines) => {
      const started = performance.now();
      const { cpu, written } = await costOf(work);
      const ms = performance.now() - started;
      return {
        cpu: mapValues(cpu, (all, role) => (all - (idleNow[role] * ms) / 1_000) / requests),
        written: perUnit(written, requests),
        reports: Math.min(1, (pipelines * ms) / REPORT_MS / requests),
      };
    };
    const loaded = (kind, targets) =>
      costOfRequest(
        async () => {
          await tools.push(LOADS[kind], targets);
          await sleep(DELIVERY_MS);
        },
        LOADS[kind].requests,
        targets.length,
      );
    /** Sends one record to each pipeline in each round. */
    const trickle = (targets) =>
      costOfRequest(
        async () => {
          for (let round = 0; round < ROUNDS; round += 1) {
            const end = sleep(ROUND_MS);
            await tools.push({ ...LOADS.trickle, requests: targets.length }, targets);
            await end;
          }
        },
        targets.length * ROUNDS,
        targets.length,
      );
    const loads = async (targets, all) => {
      // Warms up.
      await loaded('large', targets);
      const costs = {};
      for (const kind of ['small', 'large', 'short']) costs[kind] = await loaded(kind, targets);
      return { ...costs, trickle: await trickle(all) };
    };

    const costs = await loads(made.pipelines.slice(0, SPREAD), made.pipelines);
    const reports = mapValues(costs, (cost) => cost.reports);
    result.cpu = divide(
      mapValues(costs, ({ cpu }) => cpu),
      reports,
    );
    result.written = divide(
      mapValues(costs, ({ written }) => written),
      reports,
    );
    result.rows.traffic = rowsPerUnit(await rows(), after, PIPELINES);
    log('loads', { costs, cpu: result.cpu, written: result.written, rows: result.rows.traffic });

    const toHttp = await inParallel(WITH_HTTP, (number) => tools.pipeline(PIPELINES + number, httpTo(receiver.url)));
    await sleep(5_000);
    const http = await loads(toHttp.slice(0, SPREAD), toHttp);
    const ofService = (found) => mapValues(found, ({ cpu }) => cpu.service);
    result.http = httpCosts({ http: ofService(http), devNull: ofService(costs) });
    log('http', result.http);

    const list = await costOf(() => tools.get(`/v1/${topology.org}/inputs?limit=10`, CALLS));
    result.api = perUnit(list.cpu, CALLS);
    const all = PIPELINES + WITH_HTTP;
    result.metrics = await scrape(topology, tools, all);
    result.loaded = await topology.memory();
    if (topology.query) Object.assign(result, await storage(topology));
    result.files = bufferFiles(join(topology.folder, 'data')) / all;
    log('requests, metrics, files', { api: result.api, metrics: result.metrics, files: result.files });
    return result;
  } finally {
    await topology.close();
  }
}

/** Creates teams, connectors and pipelines, and adds what teams and connectors cost to `result`. */
async function fill(topology, tools, result, memory) {
  const { call, rows } = tools;
  let before = await rows();
  if (topology.query) {
    await inParallel(TENANTS, (number) =>
      call('POST', `/v3/${topology.parent}/organizations`, { name: `Team ${number}` }),
    );
    const after = await rows();
    result.rows.tenant = rowsPerUnit(after, before, TENANTS);
    before = after;
  }
  const { heap } = await memory();
  await inParallel(CONNECTORS, (number) =>
    call('POST', `/v2/${topology.org}/inputs`, { name: `Okta ${number}`, ...OKTA }),
  );
  const after = await rows();
  result.rows.connector = rowsPerUnit(after, before, CONNECTORS);
  const withConnectors = (await memory()).heap;
  result.memory.connector = (withConnectors - heap) / CONNECTORS;
  const pipelines = await inParallel(PIPELINES, (number) => tools.pipeline(number, DEV_NULL));
  return { pipelines, rows: after, heap: withConnectors };
}

/** Returns what a pipeline that has its own series costs in /metrics. */
async function scrape(topology, tools, pipelines) {
  const headers = { authorization: `Bearer ${topology.metricsToken}` };
  const { cpu } = await tools.costOf(() => tools.get('/metrics', SCRAPES, headers));
  const text = await (await fetch(`${topology.service.url}/metrics`, { headers })).text();
  return {
    cpu: cpu.service / SCRAPES / pipelines,
    series: text.split('\n').filter((line) => line.startsWith('pipeline_node_')).length / pipelines,
  };
}

/** Bytes per row of the tables that have enough rows, and what the server is by default. */
async function storage({ query, org }) {
  // There is one row per organization and day, too few for a size.
  await query(
    'insert into usage_days select $1, day, 1000000, 1000000 from generate_series(1, 1000) day on conflict do nothing',
    [org],
  );
  await query('vacuum analyze');
  const tables = await query(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const bytesPerRow = {};
  for (const { name, bytes } of tables) {
    const [{ rows }] = await query(`select count(*) as rows from ${name}`);
    if (Number(rows) >= TENANTS) bytesPerRow[name] = Math.round(Number(bytes) / Number(rows));
  }
  const [{ max, reserved }] = await query(
    `select current_setting('max_connections') as max, current_setting('superuser_reserved_connections') as reserved`,
  );
  return { bytesPerRow, server: { maxConnections: Number(max), reserved: Number(reserved) } };
}

const bufferFiles = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (each) => each.isFile() && each.parentPath.includes('streams'),
  ).length;
