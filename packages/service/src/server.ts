import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { CONNECTOR_KINDS, loadCatalog } from '@connector-frame/catalog';
import { systemClock as engineClock } from '@connector-frame/engine';
import { connectors, createAwsIdentity, type AwsIdentity } from '@connector-frame/connectors';
import { createEgress, type Egress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import { createApp, type App, type AppSettings } from './app.js';
import { bootstrap, type Bootstrapped, type BootstrapOptions } from './bootstrap.js';
import { systemClock } from './clock.js';
import { describeError } from './describe-error.js';
import { loadDropIn, type DropIn } from './embed/drop-in.js';
import { loadFormAssets, type FormAssets } from './embed/form-assets.js';
import { EnvironmentError, readEnv, type Env } from './env.js';
import { startTracing } from './tracing.js';
import { openListener, type HttpListener } from './http-listener.js';
import { createRateLimits } from './http/rate-limits.js';
import { createIngest } from './ingest/create-ingest.js';
import { openSyslog, syslogSettings } from './ingest/open-syslog.js';
import { createIngestTokens } from './ingest/tokens.js';
import { createLog } from './log.js';
import { createMetrics } from './metrics.js';
import { openCore, type Core } from './open-core.js';
import { createOAuthClients, parseOAuthClients, type OAuthClients } from './oauth/clients.js';
import type { PipelineEngine } from './pipelines/engine.js';
import type { NatsBuffers } from './pipelines/running/create-bus.js';
import { openEngine, type EngineOptions, type RunningEngine } from './pipelines/running/open-engine.js';
import { notifyOthers, RULES_CHANGED } from './pipelines/running/change-notifications.js';
import { openSharedEngine } from './pipelines/shared/open-shared-engine.js';
import { createReportedEngine } from './pipelines/running/reported-engine.js';
import { awsExternalId } from './secrets/aws-external-id.js';
import { createReadiness, databaseChecks } from './readiness.js';
import { migrateFormat1 } from './secrets/migrate-format-1.js';
import type { SignInSettings } from './sign-in/create-sign-in.js';
import { bootstrapAdmin } from './sign-in/bootstrap-admin.js';
import { createMailer, type Mailer } from './sign-in/mailer.js';
import { startSweeper } from './sweeper.js';
import { createEngineLeases } from './store/engine-leases.js';
import { createEngineState } from './store/engine-state.js';
import type { KeyValueLimits } from './store/key-values.js';
import { protectFolder } from './store/private-folder.js';

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

/** Files for browsers that other packages built. */
interface BuiltFiles {
  form: FormAssets;
  dropIn: DropIn;
}

const require = createRequire(import.meta.url);

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
  const form = await loadFormAssets(
    env.FORM_DIR ?? join(dirname(require.resolve('@connector-frame/form/package.json')), 'dist'),
  );
  const dropIn = await loadDropIn(dirname(require.resolve('@connector-frame/element/package.json')));
  const core = await openCore(env, systemClock, log);
  const tracing = await startTracing(environment, log);
  try {
    const server = await start(env, core, { form, dropIn }, log);
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
  let engine: RunningEngine | undefined;
  try {
    const egress = createEgress({ allow: env.EGRESS_ALLOW });
    const aws = awsIdentityOf(env, core, egress);
    if (env.ENGINE !== 'off') {
      const open = env.ENGINE === 'shared' ? openSharedEngine : openEngine;
      engine = await open({ ...(await engineOptions(env, core, egress, log)), aws });
    }
    const server = assemble({ env, core, files, log, listener, egress, aws, engine });
    if (organizationId !== undefined) await inviteAdmin(env, core, organizationId, server.url, log);
    return server;
  } catch (error) {
    await listener.drain();
    await engine?.close();
    throw error;
  }
}

/** The external ID of an organization does not change with the master key. */
function awsIdentityOf(
  { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, ...env }: Env,
  { vault }: Core,
  egress: Egress,
): AwsIdentity | undefined {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const { AWS_SESSION_TOKEN: sessionToken, AWS_REGION: region } = env;
  return createAwsIdentity({
    keys: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    region,
    egress,
    now: () => engineClock.now(),
    externalIdOf: (organizationId) => awsExternalId(vault, organizationId),
  });
}

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

async function engineOptions(
  env: Env,
  { database, store, vault }: Core,
  egress: Egress,
  log: Logger,
): Promise<EngineOptions> {
  const { DATA_DIR, FILE_OUTPUT_DIR } = env;
  const folder = join(DATA_DIR, 'engine');
  protectFolder(DATA_DIR, (name) => name === 'engine');
  if (FILE_OUTPUT_DIR !== undefined && isInside(DATA_DIR, FILE_OUTPUT_DIR)) protectFolder(FILE_OUTPUT_DIR);
  const catalog = loadCatalog();
  return {
    folder,
    database,
    tables: store,
    vault,
    log,
    catalog,
    egress,
    limits: {
      deadLetters: env.DEAD_LETTERS_MAX_BYTES,
      deadLetterCount: env.DEAD_LETTERS_MAX_COUNT,
      deadLettersFull: env.DEAD_LETTERS_WHEN_FULL,
    },
    buffers: {
      maxBytes: env.OUTPUT_BUFFER_BYTES,
      maxSpillBytes: env.OUTPUT_SPILL_BYTES,
      minFreeBytes: env.MIN_FREE_BYTES,
    },
    nats: natsOf(env),
    metricsDays: env.METRICS_DAYS,
    alertReminderMs: env.ALERT_REMINDER_MINUTES === 0 ? undefined : env.ALERT_REMINDER_MINUTES * 60_000,
    usageDays: env.USAGE_DAYS,
    ...(env.USAGE_WEBHOOK_URL !== undefined && env.USAGE_WEBHOOK_SECRET
      ? { usageWebhook: { url: env.USAGE_WEBHOOK_URL, secret: env.USAGE_WEBHOOK_SECRET } }
      : {}),
    // Ids and names of pipelines must not be public.
    labeledPipelines: env.METRICS_TOKEN === undefined ? 0 : env.METRICS_PIPELINES,
    lookupFolder: env.LOOKUP_DIR,
    oauthClients: oauthClientsOf(env),
    keyValueLimits: keyValueLimitsOf(env),
    listenAt: await openSyslog(env, { store, catalog, folder, log }),
    ...(FILE_OUTPUT_DIR === undefined
      ? {}
      : { filesFolder: ({ organizationId, id }) => join(FILE_OUTPUT_DIR, organizationId, id) }),
  };
}

/**
 * Returns the engine of a replica that runs no pipelines: it reads their status from the reports of
 * the replica that does.
 */
function remoteEngine({ database }: Core): PipelineEngine {
  return createReportedEngine({
    state: createEngineState(database.queries),
    leases: createEngineLeases(database.queries),
    clock: engineClock,
    notify: (id) => notifyOthers(database, id),
    notifyRules: () => notifyOthers(database, RULES_CHANGED),
  });
}

interface Parts {
  env: Env;
  core: Core;
  files: BuiltFiles;
  log: Logger;
  listener: HttpListener;
  egress: Egress;
  aws: AwsIdentity | undefined;
  engine: RunningEngine | undefined;
}

const isInside = (folder: string, path: string): boolean => {
  const relativePath = relative(resolve(folder), resolve(path));
  return (
    relativePath !== '' && relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)
  );
};

function assemble({ env, core, files, log, listener, egress, aws, engine }: Parts): RunningServer {
  const { store, vault: secrets, sessions, userTokens, database, schemaVersion } = core;
  const mailer = mailerOf(env);
  const ending = new AbortController();
  const metrics = createMetrics({ process: true });
  if (engine) metrics.watchPipelines(engine);
  const readiness = createReadiness([
    ...databaseChecks(store, secrets, schemaVersion),
    // Without it, the API works and buffered records are delivered. A shared engine has them in the database.
    ...(engine && env.ENGINE === 'on'
      ? [
          {
            name: env.NATS_URL === undefined ? 'disk' : 'nats',
            required: false,
            run: () => engine.checkBuffers(),
          },
        ]
      : []),
    ...(engine ? [{ name: 'engine', required: false, run: () => engine.check() }] : []),
  ]);
  const url = `http://localhost:${listener.port}`;
  const pipelines = engine ?? remoteEngine(core);
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
    await engine?.close();
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

function natsOf(env: Env): NatsBuffers | undefined {
  if (env.NATS_URL === undefined) return undefined;
  return {
    url: env.NATS_URL,
    credsFile: env.NATS_CREDS_FILE,
    nkeyFile: env.NATS_NKEY_FILE,
    caFile: env.NATS_CA_FILE,
    certFile: env.NATS_TLS_CERT,
    keyFile: env.NATS_TLS_KEY,
    prefix: env.NATS_PREFIX,
    shards: env.NATS_STREAMS,
    replicas: env.NATS_REPLICAS,
  };
}

const keyValueLimitsOf = ({ KV_MAX_BYTES, KV_MAX_KEYS }: Env): KeyValueLimits => ({
  maxBytes: KV_MAX_BYTES,
  maxKeys: KV_MAX_KEYS,
});

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

/** @throws EnvironmentError */
function oauthClientsOf({ OAUTH_CLIENTS_FILE: file }: Env): OAuthClients {
  if (file === undefined) return createOAuthClients([]);
  const catalog = loadCatalog();
  try {
    const types = CONNECTOR_KINDS.flatMap((kind) => catalog.list(kind));
    return createOAuthClients(parseOAuthClients(readFileSync(file, 'utf8'), types));
  } catch (error) {
    throw new EnvironmentError(error instanceof Error ? error.message : 'OAUTH_CLIENTS_FILE is not valid.');
  }
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
