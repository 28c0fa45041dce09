import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connectors } from '@connector-frame/connectors';
import { openEngine } from '@connector-frame/service';
import { Client } from 'pg';
import { median, report } from './lib.mjs';
import { openService } from './open-service.mjs';

const FEW = 100;
const MANY = 1_000;
const ROUNDS = 5;
/** Of the same for a tenth of the pipelines. */
const RATIO = 1.3;
const MAX_HEAP_KIB = 100;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const heap = () => {
  for (let time = 0; time < 3; time += 1) collectGarbage();
  return process.memoryUsage().heapUsed;
};

/** Opens a service with pipelines from `monad-http` to `dev-null`, and returns a function that starts its engine. */
async function openWith(count) {
  const service = await openService();
  const { database, team, deps } = service;
  const folder = mkdtempSync(join(tmpdir(), 'bench-scale-'));
  const connector = (kind, type) => `
    insert into connectors (id, organization_id, kind, type, name, description, settings, version, created_at, updated_at)
    select '${kind}-' || n, '${team}', '${kind}', '${type}', '${type} ' || n, '', '{}', 1, now(), now()
    from generate_series(1, ${count}) n;`;
  await database.script((run) =>
    run(`${connector('input', 'monad-http')}${connector('output', 'dev-null')}
    insert into pipelines (id, organization_id, name, description, enabled, nodes, edges, version, created_at, updated_at)
    select 'pipeline-' || n, '${team}', 'Pipeline ' || n, '', true,
      jsonb_build_array(
        jsonb_build_object('id', 'in', 'slug', 'in', 'component_id', 'input-' || n, 'component_type', 'input', 'enabled', true),
        jsonb_build_object('id', 'out', 'slug', 'out', 'component_id', 'output-' || n, 'component_type', 'output', 'enabled', true)),
      '[{"id": "edge", "from_node_instance_id": "in", "to_node_instance_id": "out"}]', 1, now(), now()
    from generate_series(1, ${count}) n;
    insert into pipeline_components (pipeline_id, organization_id, connector_id)
    select 'pipeline-' || n, '${team}', kind || '-' || n
    from generate_series(1, ${count}) n, unnest(array['input', 'output']) kind;`),
  );
  await database.queries.$client.query('vacuum analyze');
  const start = () =>
    openEngine({
      folder,
      database,
      tables: deps.store,
      vault: deps.secrets,
      log: deps.log,
      catalog: deps.catalog,
      connectors,
      egress: deps.egress,
    });
  return {
    /** Starts the engine, and returns the CPU time, statements and heap that a pipeline takes. */
    async measure() {
      const before = heap();
      const cpu = process.cpuUsage();
      const counted = countStatements();
      const engine = await start();
      await engine.started;
      while (engine.collectMetrics().statuses.get('Running') !== count) await sleep(10);
      const statements = counted.stop();
      const used = process.cpuUsage(cpu);
      const memory = heap() - before;
      await engine.close();
      return { cpu: (used.user + used.system) / 1_000 / count, statements: statements / count, memory: memory / count };
    },
    async close() {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Counts the statements that this process sends to PostgreSQL. */
function countStatements() {
  const { query } = Client.prototype;
  let count = 0;
  Client.prototype.query = function counting(...given) {
    count += 1;
    return query.apply(this, given);
  };
  return {
    stop() {
      Client.prototype.query = query;
      return count;
    },
  };
}

/** Measures the start of the engine and its memory with 1,000 pipelines, compared with 100. */
export async function scaleEngine() {
  const few = await openWith(FEW);
  const many = await openWith(MANY);
  try {
    await few.measure();
    await many.measure();
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push([await few.measure(), await many.measure()]);
    const of = (key) => rounds.map(([less, more]) => [less[key], more[key]]);
    const [cpuFew, cpuMany] = [0, 1].map((index) => median(of('cpu').map((pair) => pair[index])));
    const ratio = median(of('cpu').map(([less, more]) => more / less));
    report(
      `start of ${MANY.toLocaleString('en')} pipelines, CPU time of each`,
      `${ratio.toFixed(2)} of the start of ${FEW} (${cpuMany.toFixed(2)} ms against ${cpuFew.toFixed(2)} ms)`,
      `at most ${RATIO}`,
      ratio <= RATIO,
    );
    const statements = [0, 1].map((index) => median(of('statements').map((pair) => pair[index])));
    report(
      `statements of that start, for each pipeline`,
      `${statements[1].toFixed(2)}, ${statements[0].toFixed(2)} with ${FEW}`,
      'no more than with fewer',
      statements[1] <= statements[0],
    );
    const kib = median(of('memory').map(([, more]) => more)) / 1_024;
    report(
      'heap of a pipeline that waits for records',
      `${kib.toFixed(0)} KiB`,
      `at most ${MAX_HEAP_KIB} KiB`,
      kib <= MAX_HEAP_KIB,
    );
  } finally {
    await few.close();
    await many.close();
  }
}
