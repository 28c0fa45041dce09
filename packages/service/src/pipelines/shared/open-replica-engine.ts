import { systemClock } from '@connector-frame/engine';
import { describeError } from '../../describe-error.js';
import { createEngineLeases, SHARED } from '../../store/engine-leases.js';
import { createEngineState } from '../../store/engine-state.js';
import { FolderInUseError } from '../../store/folder-lock.js';
import type { PipelineEngine } from '../engine.js';
import { notifyOthers, RULES_CHANGED } from '../running/change-notifications.js';
import type { EngineOptions } from '../running/engine-options.js';
import { createReportedEngine } from '../running/reported-engine.js';
import { openSharedEngine } from './open-shared-engine.js';

/** The engine of a replica that runs no pipelines. */
export interface ReplicaEngine extends PipelineEngine {
  /** Returns `ok`, or in a few words what is wrong. */
  check(): string;
  close(): Promise<void>;
}

/** Milliseconds between queries for the processes that run the pipelines. */
const INTERVAL = 2_000;

/**
 * Opens the engine of a process with `ENGINE=off` on a PostgreSQL. If other processes share the pipelines,
 * it joins them without running any: it accepts records and responds for each pipeline. If one process
 * runs them with buffers in its folder, it only reads their status.
 * @param prepare called before the folder of the options is used
 * @throws FolderInUseError if the processes share the pipelines, and another one has the folder
 */
export async function openReplicaEngine(
  options: Omit<EngineOptions, 'listenAt'>,
  prepare: () => void,
): Promise<ReplicaEngine> {
  const { database, log, clock = systemClock } = options;
  const leases = createEngineLeases(database.queries);
  const reported = createReportedEngine({
    state: createEngineState(database.queries),
    leases,
    clock,
    notify: (id) => notifyOthers(database, id),
    notifyRules: () => notifyOthers(database, RULES_CHANGED),
  });
  let shared: Awaited<ReturnType<typeof openSharedEngine>> | undefined;
  let isRun = false;

  async function look(): Promise<void> {
    const lease = await leases.current();
    isRun = lease !== undefined;
    // Without a holder, the next one is probably as the last one was.
    if (!lease) return;
    if (lease.holder.startsWith(SHARED)) {
      if (shared) return;
      prepare();
      shared = await openSharedEngine(options, { runsPipelines: false });
      return;
    }
    if (!shared) return;
    // This process was paused for longer than its membership.
    log.warn('another process runs the pipelines by itself now: this replica accepts no records');
    const before = shared;
    shared = undefined;
    await before.close();
  }

  const closing = new AbortController();
  async function watch(): Promise<void> {
    for (let hasFailed = false; ;) {
      await clock.sleep(INTERVAL, closing.signal);
      if (closing.signal.aborted) return;
      try {
        await look();
        hasFailed = false;
      } catch (error) {
        const message =
          error instanceof FolderInUseError
            ? error.message
            : 'could not join the engine that runs the pipelines; retrying';
        if (!hasFailed) log.warn({ problem: describeError(error) }, message);
        hasFailed = true;
      }
    }
  }
  await look();
  const watching = watch();

  const engine = (): PipelineEngine => shared ?? reported;
  return {
    check: () => (isRun ? 'ok' : 'no process runs the pipelines'),
    async close() {
      closing.abort();
      await watching;
      await shared?.close();
    },
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
