import { AlertEvaluator } from '../packages/service/dist/alerts/alert-evaluator.js';
import { MetricsHistory } from '../packages/service/dist/pipelines/running/metrics-history.js';
import { readStoredCounts } from '../packages/service/dist/pipelines/running/stored-counts.js';
import { createAlertWriter } from '../packages/service/dist/store/alert-writer.js';
import { createEngineLeases } from '../packages/service/dist/store/engine-leases.js';
import { median, report } from './lib.mjs';
import { openService } from './open-service.mjs';

const PIPELINES = 1_000;
const RULES = 100;
const ROUNDS = 15;
const MINUTE = 60_000;
/** Milliseconds between two evaluations, and the part of the time that they may take. */
const INTERVAL = 10_000;
const SHARE = 0.05;

const errors = (time_window) => ({
  type: 'threshold-alert',
  settings: { metric_config: { type: 'errors', errors: { threshold: 0 } }, operator: 'greater_than', time_window },
});
const volume = (time_window) => ({
  type: 'threshold-alert',
  settings: {
    metric_config: { type: 'records', records: { direction: 'ingress', threshold: 1 } },
    operator: 'less_than',
    time_window,
  },
});
const rate = (time_window) => ({ type: 'error-rate-alert', settings: { threshold: 5, time_window } });
const status = { type: 'pipeline-status-alert', settings: { status: 'Erroring', time_window: '30s' } };

/** Rules over all pipelines, most with windows that are measured in memory. */
function rulesOf(windows) {
  return Array.from({ length: RULES }, (_, n) => {
    const window = windows[n % windows.length];
    return [errors(window), volume(window), rate(window), status][n % 4];
  });
}

async function open({ database, team }, rules) {
  await database.script((run) =>
    run(`delete from alert_rules; delete from alerts; delete from alert_events;
      insert into alert_rules ${rules
        .map(
          ({ type, settings }, n) =>
            `select 'rule-${n}', '${team}', 'R', '', '${type}', 'high', true, '{}'::text[], false,
              '${JSON.stringify({ settings })}'::jsonb, 1, now(), now()`,
        )
        .join(' union all ')}`),
  );
  const now = Math.floor(Date.now() / MINUTE) * MINUTE;
  const world = { now, status: 'Running', failures: [] };
  const histories = Array.from({ length: PIPELINES }, () => new MetricsHistory());
  const counts = (records) => ({
    ingress: { records, bytes: records * 100 },
    egress: { records, bytes: records * 100 },
    errors: 0,
    failedAttempts: 0,
  });
  for (const history of histories) {
    history.begin(counts(0), now - 20 * MINUTE);
    for (let n = 0; n < 60; n += 1) history.sample(counts((n + 1) * 10), now - (60 - n) * INTERVAL);
  }
  const pipelines = histories.map((history, n) => ({
    id: `pipeline-${n + 1}`,
    organizationId: team,
    name: `Pipeline ${n + 1}`,
    isEnabled: true,
    get status() {
      return world.status;
    },
    enabledSince: 0,
    deliversAlerts: false,
    counted: (ms, at) => history.last(ms, at),
    slugOf: () => undefined,
    lastError: () => undefined,
  }));
  const token = await createEngineLeases(database.queries).acquire('bench', 10 * MINUTE);
  const known = new Set(pipelines.map(({ id }) => id));
  const evaluator = new AlertEvaluator({
    writer: createAlertWriter(database, token),
    pipelines: () => pipelines,
    hasPipeline: (id) => known.has(id),
    storedCounts: (spans, to) => readStoredCounts(world.counts, spans, to),
    entriesAfter: () => [],
    state: { load: async () => undefined, save: async () => undefined },
    remindMs: undefined,
    clock: { now: () => world.now, sleep: () => new Promise(() => undefined) },
    onEvents: () => undefined,
    onFailure: (error) => world.failures.push(error),
    onUnknownRule: (rule) => world.failures.push(rule),
  });
  evaluator.start();
  return { world, evaluator };
}

/** Returns the milliseconds of one evaluation. */
async function evaluate(world, evaluator) {
  world.now += INTERVAL;
  evaluator.counted(Math.floor(world.now / MINUTE) * MINUTE);
  const before = performance.now();
  await evaluator.tick(world.now);
  if (world.failures.length > 0) throw new Error('An evaluation failed.', { cause: world.failures[0] });
  return performance.now() - before;
}

function note(name, ms, every = INTERVAL) {
  const bound = every * SHARE;
  report(
    name,
    `${ms.toFixed(0)} ms for ${RULES} rules over ${PIPELINES} pipelines`,
    `at most ${bound} ms`,
    ms <= bound,
  );
}

/** Measures evaluations of alert rules on the embedded PostgreSQL. */
export default async function alerts() {
  const {
    database,
    team,
    deps: { store },
    close,
  } = await openService();
  try {
    await database.script((run) =>
      run(`insert into pipelines (id, organization_id, name, description, enabled, nodes, edges, version, created_at, updated_at)
        select 'pipeline-' || n, '${team}', 'Pipeline ' || n, '', true, '[]', '[]', 1, now(), now()
        from generate_series(1, ${PIPELINES}) n;
        insert into pipeline_counts (pipeline_id, minute, nodes)
        select 'pipeline-' || n, date_trunc('minute', now()) - minute * interval '1 minute', jsonb_build_object('node-' || n,
          '{"type": "input", "ingress": {"bytes": 1, "records": 1}, "egress": {"bytes": 1, "records": 1}, "errors": 0}'::jsonb)
        from generate_series(1, ${PIPELINES}) n, generate_series(0, 59) minute;`),
    );
    await database.queries.$client.query('vacuum analyze');

    const short = await open({ database, team }, rulesOf(['30s', '1m', '5m', '10m']));
    short.world.counts = store.pipelineCounts;
    const quiet = [];
    for (let n = 0; n < ROUNDS; n += 1) quiet.push(await evaluate(short.world, short.evaluator));
    note('evaluation in which nothing changes', median(quiet));

    short.world.status = 'Erroring';
    for (let n = 0; n < 3; n += 1) await evaluate(short.world, short.evaluator);
    const storm = await evaluate(short.world, short.evaluator);
    const [{ n: fired }] = await database.script((run) => run('select count(*)::int as n from alerts'));
    report('evaluation in which alerts fire', `${storm.toFixed(0)} ms for ${fired} alerts and their events`);
    const held = [];
    for (let n = 0; n < ROUNDS; n += 1) held.push(await evaluate(short.world, short.evaluator));
    note(`evaluation while ${fired} alerts are firing`, median(held));

    const long = await open({ database, team }, rulesOf(['15m', '1h', '6h', '24h', '7d']));
    long.world.counts = store.pipelineCounts;
    const stored = [];
    for (let n = 0; n < ROUNDS * 6; n += 1) stored.push(await evaluate(long.world, long.evaluator));
    // One of six evaluations reads the stored counts.
    note(
      'evaluation of 5 long windows, once a minute',
      median(stored.toSorted((a, b) => b - a).slice(0, ROUNDS)),
      MINUTE,
    );
  } finally {
    await close();
  }
}
