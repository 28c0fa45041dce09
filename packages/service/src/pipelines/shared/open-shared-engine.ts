import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createFolderLetters, systemClock, type JsonValue, type RecordSample } from '@connector-frame/engine';
import { describeError } from '../../describe-error.js';
import { reservedPool } from '../../store/database.js';
import { createEngineLeases, SHARED } from '../../store/engine-leases.js';
import { createEngineMembers, MEMBER_TTL } from '../../store/engine-members.js';
import { createEngineState } from '../../store/engine-state.js';
import { lockFolder } from '../../store/folder-lock.js';
import { Notifications } from '../../store/notifications.js';
import { createCountsWriter } from '../../store/pipeline-counts.js';
import { createRunningPipelines } from '../../store/running-pipelines.js';
import { createSharedCounts } from '../../store/shared-cleanup.js';
import { createSharedLetters } from '../../store/shared-letters.js';
import { listenForChanges, notifyOthers, RULES_CHANGED } from '../running/change-notifications.js';
import { CountsRecorder } from '../running/counts-recorder.js';
import { EngineInUseError, identify } from '../running/engine-lease.js';
import { EngineMetricsRecorder } from '../running/engine-metrics.js';
import { INTERVAL_SECONDS, intervalOf } from '../running/metrics-history.js';
import { namesIn } from '../running/create-bus.js';
import { moveBuffers } from '../running/move-buffers.js';
import { moveLetters } from '../running/move-letters.js';
import { letterBoundsOf, type EngineOptions, type RunningEngine } from '../running/engine-options.js';
import { Supervisor } from '../running/supervisor.js';
import { Assignments } from './assignments.js';
import { createLead } from './create-lead.js';
import { createSharedBus } from './create-shared-bus.js';
import { Leader } from './leader.js';
import { merge } from './merge.js';
import { createReports } from './reports.js';
import { RemotePipeline, respondFor } from './remote-pipeline.js';
import { Requests } from './requests.js';
import { createSharedCoordinator } from './shared-coordinator.js';
import { SharedLogs } from './shared-logs.js';
import { SharedSignals } from './shared-signals.js';
import { createRepeat, engineLoops, loadQuotas } from '../running/engine-loops.js';
import { openEngineTools } from '../running/engine-tools.js';

/** Intervals in milliseconds. */
const FLUSH = 2_000;
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
    log,
    clock = systemClock,
    limits,
    buffers,
    nats,
    labeledPipelines = 200,
    metricsDays = 90,
    usageDays = 1_100,
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
  const signals = new SharedSignals(notifications);
  const pipelineFolder = join(folder, 'pipelines');
  const letterBounds = letterBoundsOf(limits);
  const lettersOf = (id: string) =>
    createSharedLetters(pool, id, letterBounds, () => notifications.notify(LETTERS, id));
  const { tools, meter, quotas, usageWriter } = await openEngineTools({
    options,
    right,
    signals,
    parts: {
      bus,
      coordinator,
      holder: memberId,
      folder: pipelineFolder,
      logs,
      shared: { busAt: (version) => buffered.at(version), lettersOf },
    },
    suspend: (organizationId) => supervisor.suspend(organizationId),
    warn: (organizationId, message) => {
      // Each process knows it.
      if (leader.isLeading) supervisor.warn(organizationId, 'quota', message);
    },
  });
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
    await loadQuotas(quotas, { clock, signal: closing.signal, log });
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
    ...engineLoops({
      repeat,
      clock,
      supervisor,
      meter,
      quotas,
      flushReports: () => coordinator.flush(),
      storeSchemas: () => storeSchemas(false),
      recordCounts,
      sample,
      logChanges: () => buffered.logChanges(),
    }),
    repeat(
      () => SWEEP,
      () => signals.notifyAll(),
      'could not look for alerts; retrying',
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
