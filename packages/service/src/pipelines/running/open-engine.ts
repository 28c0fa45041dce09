import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import {
  createEmbeddedCoordinator,
  createFolderLetters,
  systemClock,
  type Clock,
  type EmbeddedBusOptions,
  type LetterBounds,
  type RunnerLimits,
} from '@connector-frame/engine';
import type { KeyValueTable } from '@connector-frame/engine/connector-api';
import type { Logger } from 'pino';
import type { AlertEvaluator } from '../../alerts/alert-evaluator.js';
import { createAlertRecords, EventSignals } from '../../alerts/alert-records.js';
import { createLookups } from '../../connectors/lookups.js';
import { describeError } from '../../describe-error.js';
import { createAuthorizationServers } from '../../oauth/authorization-servers.js';
import { createOAuthClients, type OAuthClients } from '../../oauth/clients.js';
import { createTokenRefresher } from '../../oauth/granted-tokens.js';
import { createSecretExchanges } from '../../secrets/secret-exchanges.js';
import type { Vault } from '../../secrets/vault.js';
import { createAlertWriter } from '../../store/alert-writer.js';
import type { Database } from '../../store/database.js';
import { locksOf } from '../../store/locks.js';
import { createEngineLeases } from '../../store/engine-leases.js';
import { createEdgeSchemaWriter } from '../../store/edge-schemas.js';
import { createKeyValueWriter, DEFAULT_KEY_VALUE_LIMITS, type KeyValueLimits } from '../../store/key-values.js';
import { createEngineState } from '../../store/engine-state.js';
import { createCountsWriter } from '../../store/pipeline-counts.js';
import { createUsageLimits } from '../../store/usage-limits.js';
import { createUsageWriter } from '../../store/usage-writer.js';
import { QuotaKeeper } from '../../usage/quota-keeper.js';
import { UsageMeter } from '../../usage/usage-meter.js';
import { createUsageTidying } from '../../usage/usage-tidying.js';
import { createUsageWebhook, dueAt, type UsageWebhookSettings } from '../../usage/usage-webhook.js';
import { createRunningPipelines } from '../../store/running-pipelines.js';
import { createSharedLeftovers } from '../../store/shared-leftovers.js';
import { createUsageEvents } from '../../store/usage-events.js';
import type { Connector, Pipeline, Reseal, Tables } from '../../store/store.js';
import type { PipelineEngine } from '../engine.js';
import { createActivityRecords } from './activity-records.js';
import type { ComponentTools } from './components-of.js';
import type { PipelineMeter } from '../../metrics.js';
import { EngineMetricsRecorder } from './engine-metrics.js';
import { CountsRecorder } from './counts-recorder.js';
import { createBus, type NatsBuffers } from './create-bus.js';
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

export interface EngineOptions extends Omit<
  ComponentTools,
  'clock' | 'lookupsOf' | 'tableOf' | 'alertsOf' | 'activityOf' | 'exchanges' | 'refresher'
> {
  /** Used by this engine only. */
  folder: string;
  database: Database;
  tables: Tables;
  vault: Vault;
  log: Logger;
  clock?: Clock;
  limits?: Partial<RunnerLimits>;
  /** Limits of the buffers, in bytes. Defaults: those of `createEmbeddedBus`. */
  buffers?: Pick<EmbeddedBusOptions, 'maxBytes' | 'maxSpillBytes' | 'minFreeBytes'>;
  /** Stores the buffers in JetStream rather than in the folder. */
  nats?: NatsBuffers | undefined;
  /** Folder with the operator's files for enrichments. Absent: they can't read files. */
  lookupFolder?: string | undefined;
  /** Clients that the operator registered at vendors. Absent: tokens of connected accounts are not refreshed. */
  oauthClients?: OAuthClients;
  /** Maximum size of the table of a KV lookup output. Default: 256 MiB and a million keys. */
  keyValueLimits?: KeyValueLimits;
  /** Number of pipelines with metrics of their own. Default 200. */
  labeledPipelines?: number;
  /** Days for which the counts of pipelines are kept. Default 90. */
  metricsDays?: number;
  /** Milliseconds until a firing alert is sent again; `undefined`: never. Default four hours. */
  alertReminderMs?: number | undefined;
  /** Days for which usage is kept. Default 1,100. */
  usageDays?: number;
  /** Receives the usage of each hour. */
  usageWebhook?: UsageWebhookSettings;
}

/** The embedded engine. */
export interface RunningEngine extends PipelineEngine, PipelineMeter {
  /** Resolves once every pipeline has been started. Callers don't have to await it. */
  readonly started: Promise<void>;
  /** Returns `ok`, or in a few words what is wrong with the storage of the buffers. */
  checkBuffers(): Promise<string>;
  /** Returns `ok`, or in a few words what is wrong with the lease. */
  check(): string;
  /** Stores the usage so far. The engine does it every five seconds. */
  storeUsage(): Promise<void>;
  /**
   * Stops accepting records, lets each pipeline finish its current work, and releases the folder.
   * Idempotent.
   */
  close(): Promise<void>;
}

/** Intervals in milliseconds. */
const FLUSH = 2_000;
const USAGE_FLUSH = 5_000;
const QUOTA_CHECK = 1_000;
const QUOTA_LOAD = 2_000;
const LOAD_RETRY = 5_000;
const WEBHOOK = 10_000;
const DISK = 1_000;
const SWEEP = 30_000;
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
    vault,
    log,
    clock = systemClock,
    limits,
    buffers = {},
    nats,
    labeledPipelines = 200,
    metricsDays = 90,
    lookupFolder,
    oauthClients = createOAuthClients([]),
    keyValueLimits = DEFAULT_KEY_VALUE_LIMITS,
    usageDays = 1_100,
    usageWebhook,
    ...rest
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
  const keyValues = createKeyValueWriter(database, lease.epoch, keyValueLimits);
  const lookupsOf = createLookups({ keyValues: tables.keyValues, now: () => clock.now(), folder: lookupFolder });
  const signals = new EventSignals();
  const alertWriter = createAlertWriter(database, lease.epoch);
  const usageWriter = createUsageWriter(database);
  const meter = await UsageMeter.open({
    folder: join(folder, 'usage'),
    holder: lease.holder,
    writer: usageWriter,
    usage: tables.usage,
    now: () => clock.now(),
    ...(usageWebhook && { dueAt }),
    onFailure: (error) =>
      log.error({ problem: describeError(error) }, 'could not write usage to disk; a kill loses it'),
  });
  const quotas = new QuotaKeeper({
    limits: createUsageLimits(database.queries),
    meter,
    now: () => clock.now(),
    changed: (organizationId) => supervisor.suspend(organizationId),
    warn: (organizationId, message) => supervisor.warn(organizationId, 'quota', message),
    log,
  });
  meter.onUsedUp = () => quotas.check();
  const vaultOf = (organizationId: string) => vault.ofOrganization(tables, organizationId);
  const tools = {
    ...rest,
    exchanges: createSecretExchanges({ tables, locks: locksOf(database), vaultOf, catalog: rest.catalog }),
    refresher: createTokenRefresher({
      tables,
      servers: createAuthorizationServers({ clients: oauthClients, egress: rest.egress, now: () => clock.now() }),
      clock,
    }),
    lookupsOf,
    tableOf: ({ id, organizationId }: Connector): KeyValueTable => ({
      put: (entries, ttlMs) => keyValues.put(id, entries, new Date(clock.now()), ttlMs),
      get: async (keys) => (await lookupsOf(organizationId).keyValues?.of(id).get(keys)) ?? new Map(),
    }),
    clock,
    alertsOf: (pipeline: Pick<Pipeline, 'id' | 'organizationId'>, nodeId: string) =>
      createAlertRecords(tables.alertEvents, signals, pipeline, nodeId),
    activityOf: (organizationId: string) => createActivityRecords(tables.auditLogs, organizationId, clock),
    beginFeed: (pipelineId: string, nodeId: string) => alertWriter.beginFeed(pipelineId, nodeId),
    bus,
    coordinator,
    holder: lease.holder,
    folder: pipelines,
    logs,
    vaultOf,
    reseal: (reseals: readonly Reseal[]) =>
      tables.secrets.reseal(reseals).catch(warn('could not reseal secrets; the next start retries')),
    schemas: createEdgeSchemaWriter(database, lease.epoch),
    meter,
    suspensionOf: (organizationId: string) => quotas.suspensionOf(organizationId),
    limits: () => ({ ...idleLimits(), ...limits }),
  };
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
    await loadQuotas();
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

  /** Before pipelines start: those that are suspended must not run until it is known. */
  async function loadQuotas(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        return await quotas.load();
      } catch (error) {
        warn('could not read quotas; retrying')(error);
        await clock.sleep(LOAD_RETRY, closing.signal);
      }
    }
  }

  /**
   * Runs `work` repeatedly, with pauses, until the engine closes. Logs only the first of consecutive
   * failures.
   */
  async function repeat(pause: () => number, work: () => Promise<void> | void, message: string): Promise<void> {
    for (let hasFailed = false; ;) {
      await clock.sleep(pause(), closing.signal);
      if (closing.signal.aborted) return;
      try {
        await work();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) warn(message)(error);
        hasFailed = true;
      }
    }
  }
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
      egress: rest.egress,
      now: () => clock.now(),
      signal: closing.signal,
      log,
    });
  const interval = INTERVAL_SECONDS * 1_000;
  const toNext = (length: number): number => length - (clock.now() % length) + 1;
  const loops = [
    repeat(
      () => FLUSH,
      () => store.flush(),
      'could not write pipeline reports; retrying',
    ),
    repeat(
      () => FLUSH,
      () => storeSchemas(false),
      'could not store the schemas of records; retrying',
    ),
    repeat(
      () => SWEEP,
      () => supervisor.sweep(),
      'could not list pipelines; retrying',
    ),
    repeat(() => toNext(MINUTE), recordCounts, 'could not store the counts of pipelines; retrying'),
    repeat(() => toNext(interval), sample, 'could not sample metrics'),
    repeat(
      () => USAGE_FLUSH,
      () => meter.flush(),
      'could not store usage; retrying',
    ),
    repeat(
      () => QUOTA_CHECK,
      () => quotas.check(),
      'could not check quotas',
    ),
    repeat(
      () => QUOTA_LOAD,
      () => quotas.load(),
      'could not read quotas; retrying',
    ),
    repeat(
      () => toNext(MINUTE),
      () => tidyUsage(clock.now()),
      'could not tidy up the stored usage; retrying',
    ),
    ...(webhook ? [repeat(() => WEBHOOK, webhook, 'could not read or note what was sent to the usage webhook')] : []),
    repeat(
      () => DISK,
      () => buffered.logChanges(),
      'could not check the storage of the buffers; retrying',
    ),
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

/**
 * Leases of pipelines are in the memory of the one process that may run them. They must not expire
 * when its clock jumps. Ten years in milliseconds.
 */
const PIPELINE_LEASE_TTL = 10 * 365 * 86_400_000;

/**
 * Returns limits for a single process that holds all leases in memory and does not have to renew
 * them: ten thousand idle pipelines cost almost nothing. Random intervals spread the reconciliations
 * of pipelines over time.
 */
export const idleLimits = (): Partial<RunnerLimits> => ({
  reconcile: 45_000 + Math.random() * 30_000,
  leaseTtl: PIPELINE_LEASE_TTL,
  grace: 4_000,
});

/** Returns the bounds of the dead letters of one node. */
export const letterBoundsOf = (limits: Partial<RunnerLimits> | undefined): LetterBounds => ({
  maxBytes: limits?.deadLetters ?? 16 * 1024 * 1024,
  maxCount: limits?.deadLetterCount ?? 100_000,
});
