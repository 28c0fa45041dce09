import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createFolderLetters, systemClock, type JsonValue, type RecordSample } from '@connector-frame/engine';
import type { KeyValueTable } from '@connector-frame/engine/connector-api';
import { createAlertRecords } from '../../alerts/alert-records.js';
import { createLookups } from '../../connectors/lookups.js';
import { describeError } from '../../describe-error.js';
import { createAuthorizationServers } from '../../oauth/authorization-servers.js';
import { createOAuthClients } from '../../oauth/clients.js';
import { createTokenRefresher } from '../../oauth/granted-tokens.js';
import { createSecretExchanges } from '../../secrets/secret-exchanges.js';
import { createAlertWriter } from '../../store/alert-writer.js';
import { reservedPool } from '../../store/database.js';
import { createEdgeSchemaWriter } from '../../store/edge-schemas.js';
import { createEngineLeases, SHARED } from '../../store/engine-leases.js';
import { createEngineMembers, MEMBER_TTL } from '../../store/engine-members.js';
import { createEngineState } from '../../store/engine-state.js';
import { lockFolder } from '../../store/folder-lock.js';
import { createKeyValueWriter, DEFAULT_KEY_VALUE_LIMITS } from '../../store/key-values.js';
import { locksOf } from '../../store/locks.js';
import { Notifications } from '../../store/notifications.js';
import { createCountsWriter } from '../../store/pipeline-counts.js';
import { createRunningPipelines } from '../../store/running-pipelines.js';
import { createSharedCounts } from '../../store/shared-cleanup.js';
import { createSharedLetters } from '../../store/shared-letters.js';
import type { Connector, Pipeline, Reseal } from '../../store/store.js';
import { createUsageLimits } from '../../store/usage-limits.js';
import { createUsageWriter } from '../../store/usage-writer.js';
import { QuotaKeeper } from '../../usage/quota-keeper.js';
import { UsageMeter } from '../../usage/usage-meter.js';
import { dueAt } from '../../usage/usage-webhook.js';
import { createActivityRecords } from '../running/activity-records.js';
import { listenForChanges, notifyOthers, RULES_CHANGED } from '../running/change-notifications.js';
import { CountsRecorder } from '../running/counts-recorder.js';
import { EngineInUseError, identify } from '../running/engine-lease.js';
import { EngineMetricsRecorder } from '../running/engine-metrics.js';
import { INTERVAL_SECONDS, intervalOf } from '../running/metrics-history.js';
import { namesIn } from '../running/create-bus.js';
import { moveBuffers } from '../running/move-buffers.js';
import { moveLetters } from '../running/move-letters.js';
import { idleLimits, letterBoundsOf, type EngineOptions, type RunningEngine } from '../running/open-engine.js';
import type { RunningTools } from '../running/running-pipeline.js';
import { Supervisor } from '../running/supervisor.js';
import { Assignments } from './assignments.js';
import { createLead } from './create-lead.js';
import { createSharedBus } from './create-shared-bus.js';
import { Leader } from './leader.js';
import { merge } from './merge.js';
import { createReports } from './reports.js';
import { RemotePipeline, respondFor } from './remote-pipeline.js';
import { createRepeat } from './repeat.js';
import { Requests } from './requests.js';
import { createSharedCoordinator } from './shared-coordinator.js';
import { SharedLogs } from './shared-logs.js';
import { SharedSignals } from './shared-signals.js';

/** Intervals in milliseconds. */
const FLUSH = 2_000;
const USAGE_FLUSH = 5_000;
const QUOTA_CHECK = 1_000;
const QUOTA_LOAD = 2_000;
const LOAD_RETRY = 5_000;
const STORAGE = 1_000;
const SWEEP = 30_000;
const MINUTE = 60_000;

/** Channels of notifications. */
const MEMBERS = 'connector_frame_members';
const LETTERS = 'connector_frame_letters';

/**
 * Runs a share of the pipelines of a PostgreSQL database in this process, together with all others that
 * do. Every process accepts records and responds for every pipeline. Resolves before pipelines have
 * started.
 * @param runsPipelines whether this process takes a share of the pipelines; default true
 * @throws FolderInUseError, EngineInUseError when a single engine runs them
 */
export async function openSharedEngine(
  options: EngineOptions,
  { runsPipelines = true }: { runsPipelines?: boolean } = {},
): Promise<RunningEngine> {
  const {
    folder,
    database,
    tables,
    vault,
    log,
    clock = systemClock,
    limits,
    buffers,
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
  const { pool } = database;
  if (!pool) throw new EngineInUseError('A shared engine needs a PostgreSQL server. Set DATABASE_URL.');
  const lock = await lockFolder(folder, {
    what: 'The folder of the engine',
    advice: 'Set another DATA_DIR for each process.',
  });
  const durable = createEngineState(database.queries);
  const leases = createEngineLeases(database.queries);
  // Renewals must not wait for the statements of pipelines.
  const reserved = reservedPool(pool);
  const members = createEngineMembers(reserved);
  let memberId: string;
  let owner: string;
  try {
    ({ holder: memberId, database: owner } = await identify(folder, durable));
    if (!(await members.renew(memberId, MEMBER_TTL, true)))
      throw new EngineInUseError(
        `Another process runs the pipelines of this database by itself: ${(await leases.current())?.holder ?? 'it has just ended'}. Stop it first, or set ENGINE=shared there as well.`,
      );
    const other = await members.noteBuffers(memberId, nats ? 'JetStream' : 'PostgreSQL');
    if (other !== undefined) {
      await members.leave(memberId);
      throw new EngineInUseError(
        `Another process of the shared engine has its buffers elsewhere: ${other}. Set the same NATS_URL on all processes, and stop all before you change it.`,
      );
    }
  } catch (error) {
    await reserved.end();
    await lock.release();
    throw error;
  }
  const warn = (message: string) => (error: unknown) => log.warn({ problem: describeError(error) }, message);
  const right = { memberId };
  const notifications = new Notifications(reserved, clock);
  const assignments: Assignments = new Assignments({
    memberId,
    members,
    takesPipelines: runsPipelines,
    clock,
    log,
    onChange: (id) => supervisor.assignmentChanged(id),
    handOver: (id) => supervisor.handOver(id),
    notify: () => notifications.notify(MEMBERS, memberId),
  });
  notifications.on(MEMBERS, (from) => {
    if (from !== memberId) assignments.wake();
  });
  const buffered = await createSharedBus({
    pool,
    queries: database.queries,
    notifications,
    memberId,
    assignments,
    owner,
    nats,
    log,
    ...buffers,
  }).catch(async (error: unknown) => {
    await members.leave(memberId).catch(() => undefined);
    await reserved.end();
    await lock.release();
    throw error;
  });
  const { bus } = buffered;
  const coordinator = createSharedCoordinator({ memberId, assignments, members, durable, clock });
  const logs = new SharedLogs({
    pool,
    notifications,
    now: () => clock.now(),
    onFailure: warn('could not write the logs of pipelines; retrying'),
  });
  const keyValues = createKeyValueWriter(database, right, keyValueLimits);
  const lookupsOf = createLookups({ keyValues: tables.keyValues, now: () => clock.now(), folder: lookupFolder });
  const signals = new SharedSignals(notifications);
  const feeds = createAlertWriter(database, right);
  const usageWriter = createUsageWriter(database);
  const meter = await UsageMeter.open({
    folder: join(folder, 'usage'),
    holder: memberId,
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
    warn: (organizationId, message) => {
      // Each process knows it.
      if (leader.isLeading) supervisor.warn(organizationId, 'quota', message);
    },
    log,
  });
  meter.onUsedUp = () => quotas.check();
  const vaultOf = (organizationId: string) => vault.ofOrganization(tables, organizationId);
  const pipelineFolder = join(folder, 'pipelines');
  const letterBounds = letterBoundsOf(limits);
  const lettersOf = (id: string) =>
    createSharedLetters(pool, id, letterBounds, () => notifications.notify(LETTERS, id));
  const tools: RunningTools = {
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
    beginFeed: (pipelineId: string, nodeId: string) => feeds.beginFeed(pipelineId, nodeId),
    bus,
    coordinator,
    holder: memberId,
    folder: pipelineFolder,
    logs,
    vaultOf,
    reseal: (reseals: readonly Reseal[]) =>
      tables.secrets.reseal(reseals).catch(warn('could not reseal secrets; the next start retries')),
    schemas: createEdgeSchemaWriter(database, right),
    meter,
    suspensionOf: (organizationId: string) => quotas.suspensionOf(organizationId),
    limits: () => ({ ...idleLimits(), ...limits }),
    shared: {
      busAt: (version) => buffered.at(version),
      lettersOf,
    },
  };
  const supervisor = new Supervisor({
    pipelines: createRunningPipelines(database.queries),
    tools,
    log,
    onRulesChanged: () => notifyOthers(database, RULES_CHANGED),
  });
  notifications.on(LETTERS, (id) => {
    for (const pipeline of supervisor.running())
      if (pipeline.isHeld && (id === undefined || id === pipeline.id)) pipeline.lettersChanged();
  });
  const requests = new Requests({
    pool,
    notifications,
    clock,
    runs: (id) => supervisor.runningOf(id)?.isHeld === true,
    respond: async (id, method, parameters) => {
      const pipeline = supervisor.runningOf(id);
      return pipeline ? respondFor(pipeline, method, parameters) : null;
    },
    onFailure: warn('could not respond to a request of another process'),
  });
  const closing = new AbortController();
  // One listener for each loop.
  setMaxListeners(0, closing.signal);
  const repeat = createRepeat(clock, closing.signal, log);
  const lead = createLead({
    options,
    pool,
    tables,
    durable,
    supervisor,
    logs,
    requests,
    tidyBuffers: () => buffered.tidy(),
    signals,
    usageWriter,
    usageDays,
    repeat: (signal) => createRepeat(clock, signal, log),
  });
  const leader: Leader = new Leader({
    holder: `${SHARED}${memberId}`,
    leases,
    clock,
    log,
    lead: (epoch) => lead.begin(epoch),
  });
  const recorder = new EngineMetricsRecorder(labeledPipelines);
  const counts = new CountsRecorder({
    writer: createCountsWriter(database.queries, right),
    takeReports: () => coordinator.takeReports(),
    pipelineOf: (id) => supervisor.pipeline(id),
    now: () => clock.now(),
    days: metricsDays,
  });
  const reports = createReports({ durable, members, supervisor });
  const sharedCounts = createSharedCounts(pool);

  /** Moves the buffers and dead letters of a single engine from this folder, before pipelines start here. */
  async function takeFolder(): Promise<void> {
    const streams = join(folder, 'streams');
    const names = await namesIn(streams);
    if (names.length > 0) await moveBuffers({ folder: streams, names, to: bus, target: buffered.target, log });
    await buffered.migrate();
    await moveLetters({
      folder: pipelineFolder,
      pipelineIds: await namesIn(pipelineFolder),
      from: (path) => createFolderLetters(path, letterBounds, () => clock.now()),
      to: lettersOf,
      log,
    });
  }

  async function start(): Promise<void> {
    notifications.start();
    while (!closing.signal.aborted) {
      try {
        await quotas.load();
        break;
      } catch (error) {
        warn('could not read quotas; retrying')(error);
        await clock.sleep(LOAD_RETRY, closing.signal);
      }
    }
    if (closing.signal.aborted) return;
    await takeFolder().catch(
      warn('could not move all buffers and dead letters from DATA_DIR; the next start continues'),
    );
    assignments.start();
    await supervisor.start();
    if (runsPipelines && !closing.signal.aborted) leader.start();
  }
  const started = start();

  /** Sends counts of pipelines that other processes run, and receives the counts of those that run here. */
  let kept: { pipelineId: string; counts: string }[] = [];
  async function exchangeCounts(): Promise<void> {
    for (const pipeline of supervisor.running())
      for (const each of pipeline.takeDivertedCounts())
        kept.push({ pipelineId: pipeline.id, counts: JSON.stringify(each) });
    if (kept.length > 0) await sharedCounts.add(kept);
    kept = [];
    const held = [...supervisor.running()].filter((pipeline) => pipeline.isHeld).map(({ id }) => id);
    if (held.length === 0) return;
    for (const { pipelineId, counts: text } of await sharedCounts.take(held)) {
      const value: JsonValue = JSON.parse(text);
      supervisor.runningOf(pipelineId)?.addCounts(value);
    }
  }
  async function storeSchemas(isLast: boolean): Promise<void> {
    for (const pipeline of supervisor.running()) if (pipeline.isHeld) await pipeline.storeSchemas(isLast);
  }
  const interval = INTERVAL_SECONDS * 1_000;
  const toNext = (length: number): number => length - (clock.now() % length) + 1;
  async function sample(): Promise<void> {
    const at = intervalOf(clock.now() - 1 - interval / 2);
    await reports.read().catch(warn('could not read the reports of other processes; retrying'));
    recorder.sample(supervisor.running(), at);
    lead.tick(intervalOf(clock.now()));
  }
  async function recordCounts(): Promise<void> {
    const until = Math.floor(clock.now() / MINUTE) * MINUTE;
    await counts.record();
    lead.counted(until);
  }
  const loops = [
    repeat(() => FLUSH, exchangeCounts, 'could not exchange counts with other processes; retrying'),
    repeat(
      () => FLUSH,
      () => coordinator.flush(),
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
    repeat(
      () => SWEEP,
      () => signals.notifyAll(),
      'could not look for alerts; retrying',
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
      () => STORAGE,
      () => buffered.logChanges(),
      'could not check the storage of the buffers; retrying',
    ),
    listenForChanges(
      database,
      (id) => {
        if (id === RULES_CHANGED) return lead.rulesChanged();
        supervisor.changed(id);
        assignments.wake();
      },
      closing.signal,
      clock,
    ),
  ];

  let ended: Promise<void> | undefined;
  async function end(): Promise<void> {
    closing.abort();
    // Others take over at once what is released here.
    await leader.close();
    await assignments.leave();
    await supervisor.close();
    await started;
    await Promise.all(loops);
    await exchangeCounts().catch(warn('could not hand over the last counts of pipelines'));
    await storeSchemas(true).catch(warn('could not store the last schemas of records; their last minute is lost'));
    await coordinator.flush().catch(warn('could not write the last pipeline reports'));
    await counts.record().catch(warn('could not store the last counts of pipelines'));
    await logs.close();
    await bus.close();
    await meter.flush().catch(warn('could not store the last usage; the next start does'));
    meter.close();
    await assignments.close();
    await notifications.close();
    await reserved.end();
    await lock.release();
  }

  const remoteOf = (id: string): RemotePipeline => new RemotePipeline(id, requests);
  const isElsewhere = (id: string): boolean => supervisor.runningOf(id)?.isHeld === false;
  return {
    started,
    checkBuffers: () => Promise.resolve(buffered.check()),
    check: () => (assignments.unconfirmedMs() < MEMBER_TTL ? 'ok' : 'could not renew its membership'),
    collectMetrics: () => recorder.collect(supervisor.running()),
    async measureNodes() {
      const held = [...supervisor.running()].filter((pipeline) => pipeline.isHeld);
      const { labeled, unlabeled } = recorder.select(held);
      const nodes = await Promise.all(labeled.map((pipeline) => pipeline.measure()));
      return { nodes: nodes.flat(), at: clock.now(), unlabeled };
    },
    storeUsage: () => meter.flush(),
    close: () => (ended ??= end()),
    status: (pipeline) => supervisor.status(pipeline),
    changed(id, nodes) {
      supervisor.changed(id, nodes);
      notifyOthers(database, id);
      assignments.wake();
    },
    rulesChanged: () => supervisor.rulesChanged(),
    delivery(id) {
      const local = supervisor.delivery(id);
      return local && isElsewhere(id) ? remoteOf(id).delivery(local.deadLetters) : local;
    },
    samples(id, nodeId, signal) {
      if (!isElsewhere(id)) return supervisor.samples(id, nodeId, signal);
      // Records leave an input in the process that has accepted them.
      const here = (until: AbortSignal): AsyncIterable<RecordSample> => supervisor.samples(id, nodeId, until) ?? none();
      return merge([here, (until) => remoteOf(id).samples(nodeId, until)], AbortSignal.any([signal, closing.signal]));
    },
    schemas: (id) => (isElsewhere(id) ? remoteOf(id).schemas : supervisor.schemas(id)),
    metrics: (id) => supervisor.metrics(id),
    log: (id, limit) => logs.read(id, limit),
    tail: (id, signal, after) => logs.tail(id, AbortSignal.any([signal, closing.signal]), after),
    followLogs: (filter, signal, from) => logs.follow(filter, AbortSignal.any([signal, closing.signal]), from),
    logRequest: (organizationId, entry) => supervisor.logRequest(organizationId, entry),
    append: (id, lines, given) => supervisor.append(id, lines, given),
  };
}

async function* none(): AsyncGenerator<never, void, void> {}
