import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createEmbeddedCoordinator, createFolderLetters, systemClock } from '@connector-frame/engine';
import type { AlertEvaluator } from '../../alerts/alert-evaluator.js';
import { EventSignals } from '../../alerts/alert-records.js';
import { describeError } from '../../describe-error.js';
import { createEngineLeases } from '../../store/engine-leases.js';
import { createEngineState } from '../../store/engine-state.js';
import { createCountsWriter } from '../../store/pipeline-counts.js';
import { createUsageTidying } from '../../usage/usage-tidying.js';
import { createUsageWebhook } from '../../usage/usage-webhook.js';
import { createRunningPipelines } from '../../store/running-pipelines.js';
import { createSharedLeftovers } from '../../store/shared-leftovers.js';
import { createUsageEvents } from '../../store/usage-events.js';
import type { PipelineEngine } from '../engine.js';
import { EngineMetricsRecorder } from './engine-metrics.js';
import { CountsRecorder } from './counts-recorder.js';
import { createBus } from './create-bus.js';
import { acquireEngineLease, LEASE_TTL } from './engine-lease.js';
import { createEngineStore } from './engine-store.js';
import { createEvaluator } from './create-evaluator.js';
import { findOrphans } from './orphans.js';
import { INTERVAL_SECONDS, intervalOf } from './metrics-history.js';
import { listenForChanges, RULES_CHANGED } from './change-notifications.js';
import { PipelineLogs } from './pipeline-logs.js';
import { createReportedEngine } from './reported-engine.js';
import { Supervisor } from './supervisor.js';
import { takeShared } from './take-shared.js';
import { createRepeat, engineLoops, loadQuotas, untilNext } from './engine-loops.js';
import { letterBoundsOf, type EngineOptions, type RunningEngine } from './engine-options.js';
import { openEngineTools } from './engine-tools.js';

/** Intervals in milliseconds. */
const WEBHOOK = 10_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * Runs the pipelines of a database in this process. Resolves before they have started.
 * @throws FolderInUseError, EngineInUseError when another process runs them
 */
export async function openEngine(options: EngineOptions): Promise<RunningEngine> {
  const {
    folder,
    database,
    tables,
    log,
    clock = systemClock,
    limits,
    buffers = {},
    nats,
    labeledPipelines = 200,
    metricsDays = 90,
    usageDays = 1_100,
    usageWebhook,
    egress,
  } = options;
  const leases = createEngineLeases(database.queries);
  const lease = await acquireEngineLease({ folder, state: createEngineState(database.queries), leases, clock, log });
  const fence = { token: lease.epoch, onLost: () => lease.lose() };
  const state = createEngineState(database.queries, fence);
  const buffered = await createBus({
    folder: join(folder, 'streams'),
    queries: database.queries,
    fence,
    owner: lease.database,
    limits: buffers,
    nats,
    log,
  }).catch(async (error: unknown) => {
    await lease.release();
    throw error;
  });
  const { bus } = buffered;
  const warn = (message: string) => (error: unknown) => log.warn({ problem: describeError(error) }, message);
  const store = createEngineStore(state, lease.epoch);
  const logs = await PipelineLogs.open({
    folder,
    now: () => clock.now(),
    epoch: lease.epoch,
    onFailure: warn('could not write the logs of pipelines; retrying'),
    onEntry: (entry) => alerts.logged(entry),
  });
  const pipelines = join(folder, 'pipelines');
  const coordinator = createEmbeddedCoordinator({ store, now: () => clock.now() });
  const signals = new EventSignals();
  const { tools, meter, quotas, usageWriter, alertWriter } = await openEngineTools({
    options,
    right: lease.epoch,
    signals,
    parts: { bus, coordinator, holder: lease.holder, folder: pipelines, logs },
    suspend: (organizationId) => supervisor.suspend(organizationId),
    warn: (organizationId, message) => supervisor.warn(organizationId, 'quota', message),
  });
  const supervisor = new Supervisor({
    pipelines: createRunningPipelines(database.queries),
    tools,
    log,
    onRulesChanged: () => alerts.wake(),
  });
  const alerts: AlertEvaluator = createEvaluator({
    writer: alertWriter,
    tables,
    state,
    token: lease.epoch,
    supervisor,
    logs,
    signals,
    remindMs: 'alertReminderMs' in options ? options.alertReminderMs : 4 * HOUR,
    clock,
    log,
  });
  const recorder = new EngineMetricsRecorder(labeledPipelines);
  const counts = new CountsRecorder({
    writer: createCountsWriter(database.queries, lease.epoch),
    takeReports: () => store.takeReports(),
    pipelineOf: (id) => supervisor.pipeline(id),
    now: () => clock.now(),
    days: metricsDays,
  });
  const closing = new AbortController();
  // One listener for each loop.
  setMaxListeners(0, closing.signal);

  async function start(): Promise<void> {
    const cleanUpFailed = warn('could not clean up removed pipelines; the next start retries');
    // Without the database, pipelines start as soon as it is back.
    await loadQuotas(quotas, { clock, signal: closing.signal, log });
    await buffered.migrate().catch(warn('could not move the buffers from DATA_DIR; the next start continues'));
    await takeShared({
      leftovers: createSharedLeftovers(database.queries),
      bus,
      lettersOf: (id) => createFolderLetters(join(pipelines, id), letterBoundsOf(limits), () => clock.now()),
      log,
    }).catch(warn('could not take over the shared buffers; the next start continues'));
    // After what an earlier process has left: usage is complete until then.
    await meter
      .flush()
      .then(() => usageWriter.begin(lease.holder, new Date(clock.now())))
      .catch(warn('could not note that this engine runs the pipelines; an export may ask for another DATA_DIR'));
    const streams = (): Promise<string[]> => buffered.names();
    const left = await findOrphans({ state, coordinator, bus, streams, pipelines }).catch(cleanUpFailed);
    await supervisor.start();
    if (closing.signal.aborted) return;
    // A pipeline that is not known yet would look deleted.
    alerts.start();
    logs.retain((id) => supervisor.has(id));
    await left?.forget((id, nodeId) => supervisor.has(id, nodeId)).catch(cleanUpFailed);
  }
  const started = start();

  const repeat = createRepeat(clock, closing.signal, log);
  async function storeSchemas(isLast: boolean): Promise<void> {
    for (const pipeline of supervisor.running()) await pipeline.storeSchemas(isLast);
  }
  async function recordCounts(): Promise<void> {
    const until = Math.floor(clock.now() / MINUTE) * MINUTE;
    await counts.record();
    alerts.counted(until);
  }
  function sample(): void {
    recorder.sample(supervisor.running(), intervalOf(clock.now() - 1 - interval / 2));
    void alerts.tick(intervalOf(clock.now()));
  }
  const tidyUsage = createUsageTidying(usageWriter, usageDays);
  const webhook =
    usageWebhook &&
    createUsageWebhook({
      ...usageWebhook,
      events: createUsageEvents(database.queries),
      egress,
      now: () => clock.now(),
      signal: closing.signal,
      log,
    });
  const interval = INTERVAL_SECONDS * 1_000;
  const loops = [
    ...engineLoops({
      repeat,
      clock,
      supervisor,
      meter,
      quotas,
      flushReports: () => store.flush(),
      storeSchemas: () => storeSchemas(false),
      recordCounts,
      sample,
      logChanges: () => buffered.logChanges(),
    }),
    repeat(
      () => untilNext(MINUTE, clock),
      () => tidyUsage(clock.now()),
      'could not tidy up the stored usage; retrying',
    ),
    ...(webhook ? [repeat(() => WEBHOOK, webhook, 'could not read or note what was sent to the usage webhook')] : []),
    listenForChanges(
      database,
      (id) => (id === RULES_CHANGED ? alerts.wake() : supervisor.changed(id)),
      closing.signal,
      clock,
    ),
  ];

  let ended: Promise<void> | undefined;
  async function end(): Promise<void> {
    closing.abort();
    await supervisor.close();
    await started;
    await Promise.all(loops);
    await alerts.close();
    // Before the logs, which receive what has changed. Without the lease, nothing is stored.
    await storeSchemas(true).catch(warn('could not store the last schemas of records; their last minute is lost'));
    await logs.close();
    await bus.close();
    // Also without the lease: what this process has counted, no other one has.
    await meter.flush().catch(warn('could not store the last usage; the next start does'));
    meter.close();
    if (!lease.lost.aborted) {
      await store.flush().catch(warn('could not write the last pipeline reports'));
      await counts.record().catch(warn('could not store the last counts of pipelines; the next start does'));
    }
    await lease.release();
  }
  const close = (): Promise<void> => (ended ??= end());

  const reported = createReportedEngine({
    state,
    leases,
    clock,
    notify: () => undefined,
    notifyRules: () => undefined,
  });
  // Another process runs the pipelines now; this one must stop them.
  lease.lost.addEventListener('abort', () => void close());
  const engine = (): PipelineEngine => (lease.lost.aborted ? reported : supervisor);
  return {
    started,
    checkBuffers: () => buffered.check(),
    check: () =>
      lease.lost.aborted
        ? 'lost its lease to another process'
        : lease.unconfirmedMs() < LEASE_TTL
          ? 'ok'
          : 'could not renew its lease',
    collectMetrics: () => recorder.collect(supervisor.running()),
    async measureNodes() {
      const { labeled, unlabeled } = recorder.select(supervisor.running());
      const nodes = await Promise.all(labeled.map((pipeline) => pipeline.measure()));
      return { nodes: nodes.flat(), at: clock.now(), unlabeled };
    },
    storeUsage: () => meter.flush(),
    close,
    status: (pipeline) => engine().status(pipeline),
    changed: (id, nodes) => engine().changed(id, nodes),
    rulesChanged: () => engine().rulesChanged(),
    delivery: (id) => engine().delivery(id),
    samples: (id, nodeId, signal) => engine().samples(id, nodeId, signal),
    schemas: (id) => engine().schemas(id),
    metrics: (id) => engine().metrics(id),
    log: (id, limit) => engine().log(id, limit),
    tail: (id, signal, after) => engine().tail(id, signal, after),
    followLogs: (filter, signal, start) => engine().followLogs(filter, signal, start),
    logRequest: (organizationId, entry) => engine().logRequest(organizationId, entry),
    append: (id, lines, given) => engine().append(id, lines, given),
  };
}
