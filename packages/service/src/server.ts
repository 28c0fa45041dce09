import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { loadCatalog } from '@connector-frame/catalog';
import { connectors, type AwsIdentity } from '@connector-frame/connectors';
import { createEgress, type Egress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import { createApp, type App, type AppSettings } from './app.js';
import { bootstrap, type Bootstrapped, type BootstrapOptions } from './bootstrap.js';
import { systemClock } from './clock.js';
import { describeError } from './describe-error.js';
import { loadBuiltFiles, type BuiltFiles } from './embed/built-files.js';
import {
  engineChecks,
  engineOptions,
  keyValueLimitsOf,
  listenerOptions,
  oauthClientsOf,
  prepareFolder,
} from './engine-setup.js';
import { readEnv, type Env } from './env.js';
import { startTracing } from './tracing.js';
import { openListener, type HttpListener } from './http-listener.js';
import { createRateLimits } from './http/rate-limits.js';
import { createIngest } from './ingest/create-ingest.js';
import { syslogSettings } from './ingest/open-syslog.js';
import { createIngestTokens } from './ingest/tokens.js';
import { createLog } from './log.js';
import { createMetrics } from './metrics.js';
import { openCore, type Core } from './open-core.js';
import type { EngineOptions, RunningEngine } from './pipelines/running/engine-options.js';
import { openEngine } from './pipelines/running/open-engine.js';
import { openReplicaEngine, type ReplicaEngine } from './pipelines/shared/open-replica-engine.js';
import { openSharedEngine } from './pipelines/shared/open-shared-engine.js';
import { createReadiness, databaseChecks } from './readiness.js';
import { migrateFormat1 } from './secrets/migrate-format-1.js';
import type { SignInSettings } from './sign-in/create-sign-in.js';
import { bootstrapAdmin } from './sign-in/bootstrap-admin.js';
import { createMailer, type Mailer } from './sign-in/mailer.js';
import { startSweeper } from './sweeper.js';

/** A running service. */
export interface RunningServer {
  /** Base URL on this machine: `http://localhost:4000`. */
  readonly url: string;
  readonly app: App;
  /** Ensures that a parent organization, its teams and an API key exist. */
  bootstrap(options: BootstrapOptions): Promise<Bootstrapped>;
  /**
   * Reports not ready, waits for `DRAIN_DELAY_MS`, completes the requests in flight, stops the
   * engine and closes the database. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Starts the service from environment variables (the README has a table of them). Resolves once it
 * accepts requests.
 *
 * @throws EnvironmentError, FolderInUseError, FolderNotPrivateError, EngineInUseError,
 *   MasterKeyError, each saying what to set
 * @example
 * ```ts
 * const service = await createServer({ SERVICE_PORT: '0', DATA_DIR: '/var/lib/connectors' });
 * console.log(service.url);
 * await service.close();
 * ```
 */
export async function createServer(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  { log: given }: { log?: Logger } = {},
): Promise<RunningServer> {
  const env = readEnv(environment);
  const log = given ?? createLog(env.LOG_LEVEL);
  const files = await loadBuiltFiles(env.FORM_DIR);
  const core = await openCore(env, systemClock, log);
  const tracing = await startTracing(environment, log);
  try {
    const server = await start(env, core, files, log);
    return {
      ...server,
      async close() {
        try {
          await server.close();
        } finally {
          await tracing?.close();
        }
      },
    };
  } catch (error) {
    await core.store.close();
    await tracing?.close();
    throw error;
  }
}

async function start(env: Env, core: Core, files: BuiltFiles, log: Logger): Promise<RunningServer> {
  const { store, vault: secrets } = core;
  let organizationId: string | undefined;
  if (env.BOOTSTRAP_ORGANIZATION !== undefined && env.SERVICE_API_KEY !== undefined) {
    ({ organizationId } = await bootstrap(
      { store, secrets },
      { organization: env.BOOTSTRAP_ORGANIZATION, apiKey: env.SERVICE_API_KEY },
    ));
    log.info({ organization_id: organizationId, name: env.BOOTSTRAP_ORGANIZATION }, 'organization bootstrapped');
  }
  // Open the port first: the app needs its own URL, and SERVICE_PORT may be 0.
  const listener = await openListener(env.SERVICE_PORT, env.SERVICE_HOST);
  let engine: Engine | undefined;
  try {
    const egress = createEgress({ allow: env.EGRESS_ALLOW });
    const options = engineOptions(env, core, egress, log);
    engine = await openEngineOf(env, core, options);
    const server = assemble({ env, core, files, log, listener, egress, aws: options.aws, engine });
    if (organizationId !== undefined) await inviteAdmin(env, core, organizationId, server.url, log);
    return server;
  } catch (error) {
    await listener.drain();
    if (engine) await engineIn(engine).close();
    throw error;
  }
}

/** `running`: this process runs pipelines, or a share of them. */
type Engine = { running: RunningEngine } | { replica: ReplicaEngine };

async function openEngineOf(env: Env, core: Core, options: EngineOptions): Promise<Engine> {
  // A replica that joins no engine needs no folder, which may be read-only.
  if (env.ENGINE === 'off') return { replica: await openReplicaEngine(options, () => prepareFolder(env)) };
  prepareFolder(env);
  const open = env.ENGINE === 'shared' ? openSharedEngine : openEngine;
  return { running: await open({ ...options, ...(await listenerOptions(env, core, options)) }) };
}

const engineIn = (engine: Engine): RunningEngine | ReplicaEngine =>
  'running' in engine ? engine.running : engine.replica;

/** Adds or invites the administrator of `BOOTSTRAP_ADMIN_EMAIL`. A failure does not stop the service. */
async function inviteAdmin(env: Env, core: Core, organizationId: string, url: string, log: Logger): Promise<void> {
  const { BOOTSTRAP_ADMIN_EMAIL: email, OIDC_ISSUER, PUBLIC_URL } = env;
  if (email === undefined) return;
  const tools = { ...core, clock: systemClock, mailer: mailerOf(env), publicUrl: PUBLIC_URL ?? url };
  try {
    const done = await bootstrapAdmin(tools, { organizationId, email, hasProvider: OIDC_ISSUER !== undefined });
    if (done !== undefined) log.info({ organization_id: organizationId }, `administrator ${done}`);
  } catch (error) {
    log.warn({ problem: describeError(error) }, 'could not invite the administrator; the next start retries');
  }
}

const mailerOf = ({ SMTP_URL, MAIL_FROM }: Env): Mailer | undefined =>
  SMTP_URL === undefined || MAIL_FROM === undefined ? undefined : createMailer(SMTP_URL, MAIL_FROM);

interface Parts {
  env: Env;
  core: Core;
  files: BuiltFiles;
  log: Logger;
  listener: HttpListener;
  egress: Egress;
  aws: AwsIdentity | undefined;
  engine: Engine;
}

function assemble({ env, core, files, log, listener, egress, aws, engine }: Parts): RunningServer {
  const { store, vault: secrets, sessions, userTokens, database, schemaVersion } = core;
  const mailer = mailerOf(env);
  const ending = new AbortController();
  const metrics = createMetrics({ process: true });
  if ('running' in engine) metrics.watchPipelines(engine.running);
  const pipelines = engineIn(engine);
  const buffers = env.NATS_URL === undefined ? 'disk' : 'nats';
  const readiness = createReadiness([
    ...databaseChecks(store, secrets, schemaVersion),
    ...('running' in engine
      ? engineChecks(engine.running, env.ENGINE === 'on' || env.NATS_URL !== undefined ? buffers : undefined)
      : []),
    ...('replica' in engine && database.pool
      ? [{ name: 'engine', required: false, run: () => engine.replica.check() }]
      : []),
  ]);
  const url = `http://localhost:${listener.port}`;
  const app = createApp({
    store,
    secrets,
    sessions,
    userTokens,
    ...(mailer && { mailer }),
    catalog: loadCatalog(),
    connectors,
    egress,
    aws,
    limits: createRateLimits(
      {
        address: env.RATE_LIMIT_ADDRESS,
        key: env.RATE_LIMIT_KEY,
        organization: env.RATE_LIMIT_ORGANIZATION,
        session: env.RATE_LIMIT_SESSION,
        user: env.RATE_LIMIT_USER,
        sign_in: env.RATE_LIMIT_SIGN_IN,
        sign_in_address: env.RATE_LIMIT_SIGN_IN_ADDRESS,
        invite: env.RATE_LIMIT_INVITE,
        test: env.RATE_LIMIT_TEST,
        test_key: env.RATE_LIMIT_TEST_KEY,
        test_type: env.RATE_LIMIT_TEST_TYPE,
        test_organization: env.RATE_LIMIT_TEST_ORGANIZATION,
      },
      database.pool,
    ),
    readiness,
    ...files,
    engine: pipelines,
    closing: ending.signal,
    settings: settingsOf(env, url, listener.port),
    clock: systemClock,
    log,
    metrics,
  });
  // Replaces the global Request and Response with lighter classes. Measured: a third of the time
  // per response.
  const handle = getRequestListener(app.fetch);
  const ingest = createIngest({
    store,
    tokens: createIngestTokens(secrets),
    catalog: loadCatalog(),
    connectors,
    vault: secrets,
    egress,
    engine: pipelines,
    clock: systemClock,
    lifetimeMs: env.INGEST_CACHE_SECONDS * 1_000,
    log,
    metrics,
  });
  listener.serve((request, response) => {
    if (!ingest(request, response)) void handle(request, response);
  });
  log.info({ url, database: database.pool ? 'postgresql' : 'embedded' }, 'service started');

  const sweeper = startSweeper({ store, auditLogDays: env.AUDIT_LOG_DAYS, alertDays: env.ALERT_DAYS, log });
  const catalog = loadCatalog();
  const sealing = migrateFormat1({ store, vault: secrets, catalog, log, signal: ending.signal }).catch(
    (error: unknown) =>
      log.warn({ problem: describeError(error) }, 'could not reseal secrets; the next start continues'),
  );
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    readiness.stop();
    await sleep(env.DRAIN_DELAY_MS);
    ending.abort();
    await listener.drain();
    await pipelines.close();
    egress.close?.();
    await sealing;
    await sweeper.stop();
    await store.close();
    log.info('service stopped');
  };
  return {
    url,
    app,
    bootstrap: (options) => bootstrap({ store, secrets }, options),
    close: () => (closing ??= close()),
  };
}

function settingsOf(env: Env, url: string, port: number): AppSettings {
  const { PUBLIC_URL, API_BASES, EMBED_ORIGINS } = env;
  // Without a public URL, the service is reached on this machine, under each of its names.
  const names = PUBLIC_URL === undefined ? [`http://127.0.0.1:${port}`, `http://[::1]:${port}`] : [];
  return {
    publicUrl: PUBLIC_URL ?? url,
    apiBases: [...names, ...API_BASES],
    embedOrigins: [...names, ...EMBED_ORIGINS],
    allowedParentOrigins: env.ALLOWED_PARENT_ORIGINS,
    trustedProxies: env.TRUST_PROXY,
    consoleOrigins: env.CONSOLE_ORIGINS,
    signIn: signInSettings(env),
    // Another replica may run the engine.
    runsPipelines: env.ENGINE !== 'off' || env.DATABASE_URL !== undefined,
    fileOutputs: env.FILE_OUTPUT_DIR !== undefined,
    betaTypes: env.BETA_TYPES === 'on',
    nodeData: env.NODE_DATA === 'on',
    configOverrides: env.CONFIG_OVERRIDES === 'on',
    syslog: syslogSettings(env),
    keyValueLimits: keyValueLimitsOf(env),
    oauthClients: oauthClientsOf(env),
    ...(env.LOOKUP_DIR === undefined ? {} : { lookupFolder: env.LOOKUP_DIR }),
    ...(env.AWS_TEMPLATE_URL === undefined ? {} : { roleTemplateUrl: env.AWS_TEMPLATE_URL }),
    ...(env.BILLING_CHECKOUT_URL === undefined ? {} : { checkoutUrl: env.BILLING_CHECKOUT_URL }),
    ...(env.METRICS_TOKEN === undefined ? {} : { metricsToken: env.METRICS_TOKEN }),
  };
}

function signInSettings(env: Env): SignInSettings {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  const hasIssuer = issuer !== undefined && clientId !== undefined;
  const trustEmail = env.OIDC_TRUST_EMAIL === 'on';
  return {
    localAccounts: env.LOCAL_ACCOUNTS === 'on',
    requireSecondFactor: env.LOCAL_MFA === 'required',
    ttl: env.USER_SESSION_HOURS * 3_600,
    ...(hasIssuer && { oidc: { issuer, clientId, trustEmail, ...(clientSecret !== undefined && { clientSecret }) } }),
  };
}
