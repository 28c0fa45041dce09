import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { OpenAPIHono } from '@hono/zod-openapi';
import { createEgress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import { systemClock } from './clock.js';
import { engineChecks, engineOptions, listenerOptions, prepareFolder } from './engine-setup.js';
import { openListener } from './http-listener.js';
import { mountProbes } from './http/mount-probes.js';
import { createObserver } from './http/observe.js';
import { createLog } from './log.js';
import { createMetrics } from './metrics.js';
import { openCore, type Core } from './open-core.js';
import type { RunningEngine } from './pipelines/running/engine-options.js';
import { openSharedEngine } from './pipelines/shared/open-shared-engine.js';
import { createReadiness, databaseChecks } from './readiness.js';
import { healthRoutes } from './routes/health.js';
import { startTracing } from './tracing.js';
import { readWorkerEnv, type WorkerEnv } from './worker-env.js';

/** A running worker. */
export interface RunningWorker {
  /** Base URL of its probes on this machine: `http://localhost:4000`. */
  readonly url: string;
  /**
   * Reports not ready, waits for `DRAIN_DELAY_MS`, hands its pipelines over to other workers, and closes
   * the database. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Starts a worker from environment variables: a process that runs a share of the pipelines of a service,
 * and serves nothing but `/livez`, `/readyz` and `/metrics`. Resolves once it responds to them.
 *
 * @throws EnvironmentError, FolderInUseError, FolderNotPrivateError, EngineInUseError,
 *   MasterKeyError, each saying what to set
 * @example
 * ```ts
 * const worker = await createWorker({ DATABASE_URL: 'postgres://…', MASTER_KEY: '…', SERVICE_PORT: '0' });
 * await worker.close();
 * ```
 */
export async function createWorker(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  { log: given }: { log?: Logger } = {},
): Promise<RunningWorker> {
  const { env, hasFolder, unused } = readWorkerEnv(environment);
  const log = given ?? createLog(env.LOG_LEVEL);
  if (unused.length > 0) log.info({ variables: unused }, 'variables of the API are ignored');
  const scratch = hasFolder ? undefined : await scratchFolder();
  const undo: (() => Promise<void> | void)[] = [];
  if (scratch) undo.push(scratch.remove);
  try {
    const folder = scratch ? { DATA_DIR: scratch.folder } : {};
    const core = await openCore({ POSTGRES_PREVIOUS: undefined, ...env, ...folder }, systemClock, log);
    undo.push(() => core.store.close());
    const tracing = await startTracing(environment, log);
    if (tracing) undo.push(() => tracing.close());
    const worker = await start({ ...env, ...folder }, core, log);
    undo.push(() => worker.close());
    let closing: Promise<void> | undefined;
    return { url: worker.url, close: () => (closing ??= runAll(undo)) };
  } catch (error) {
    await runAll(undo);
    throw error;
  }
}

/** Runs all of them, the last one first, even if some fail. */
async function runAll(undo: (() => Promise<void> | void)[]): Promise<void> {
  const [first, ...others] = undo.toReversed();
  try {
    await first?.();
  } finally {
    if (others.length > 0) await runAll(others.toReversed());
  }
}

/** Creates a folder that is removed when the process exits. */
async function scratchFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'connector-worker-'));
  const removeNow = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeNow);
  return {
    folder,
    async remove() {
      process.off('exit', removeNow);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function start(env: WorkerEnv, core: Core, log: Logger): Promise<RunningWorker> {
  // Open the port first: a worker whose probes can't be reached must not take pipelines.
  const listener = await openListener(env.SERVICE_PORT, env.SERVICE_HOST);
  const egress = createEgress({ allow: env.EGRESS_ALLOW });
  let engine: RunningEngine;
  try {
    prepareFolder(env);
    const options = engineOptions(env, core, egress, log);
    engine = await openSharedEngine({ ...options, ...(await listenerOptions(env, core, options)) });
  } catch (error) {
    await listener.drain();
    egress.close?.();
    throw error;
  }
  const metrics = createMetrics({ process: true });
  metrics.watchPipelines(engine);
  const readiness = createReadiness([
    ...databaseChecks(core.store, core.vault, core.schemaVersion),
    ...engineChecks(engine, env.NATS_URL === undefined ? undefined : 'nats'),
  ]);
  const app = new OpenAPIHono();
  const { METRICS_TOKEN: metricsToken } = env;
  const routes = healthRoutes({ metrics }, { readiness, ...(metricsToken !== undefined && { metricsToken }) });
  mountProbes(app, routes, createObserver(log, metrics));
  const handle = getRequestListener(app.fetch);
  listener.serve((request, response) => void handle(request, response));
  const url = `http://localhost:${listener.port}`;
  log.info({ url }, 'worker started');
  return {
    url,
    async close() {
      readiness.stop();
      await sleep(env.DRAIN_DELAY_MS);
      // Probes respond until the pipelines are handed over.
      await engine.close();
      await listener.drain();
      egress.close?.();
      log.info('worker stopped');
    },
  };
}
