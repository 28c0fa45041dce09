import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CONNECTOR_KINDS, loadCatalog } from '@connector-frame/catalog';
import { createAwsIdentity, type AwsIdentity } from '@connector-frame/connectors';
import { systemClock as engineClock } from '@connector-frame/engine';
import type { Egress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import { EnvironmentError } from './env.js';
import { openSyslog } from './ingest/open-syslog.js';
import { createOAuthClients, parseOAuthClients, type OAuthClients } from './oauth/clients.js';
import type { Core } from './open-core.js';
import type { NatsBuffers } from './pipelines/running/create-bus.js';
import type { EngineOptions, RunningEngine } from './pipelines/running/engine-options.js';
import type { ReadinessCheck } from './readiness.js';
import { awsExternalId } from './secrets/aws-external-id.js';
import type { KeyValueLimits } from './store/key-values.js';
import { protectFolder } from './store/private-folder.js';
import type { WorkerEnv } from './worker-env.js';

/** The variables that the engine uses, in a service and in a worker. */
export type EngineEnv = Omit<WorkerEnv, 'SERVICE_HOST' | 'SERVICE_PORT' | 'METRICS_TOKEN'> & {
  /** In a worker, buffers are in the database. */
  MIN_FREE_BYTES?: number;
  METRICS_TOKEN?: string | undefined;
};

/** The external ID of an organization does not change with the master key. */
function awsIdentityOf(
  {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_REGION: region,
  }: EngineEnv,
  { vault }: Core,
  egress: Egress,
): AwsIdentity | undefined {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return createAwsIdentity({
    keys: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    region,
    egress,
    now: () => engineClock.now(),
    externalIdOf: (organizationId) => awsExternalId(vault, organizationId),
  });
}

/**
 * Makes the folder of an engine private, and that of file outputs if it is inside.
 * @throws FolderNotPrivateError
 */
export function prepareFolder({ DATA_DIR, FILE_OUTPUT_DIR }: Pick<EngineEnv, 'DATA_DIR' | 'FILE_OUTPUT_DIR'>): void {
  protectFolder(DATA_DIR, (name) => name === 'engine');
  if (FILE_OUTPUT_DIR !== undefined && isInside(DATA_DIR, FILE_OUTPUT_DIR)) protectFolder(FILE_OUTPUT_DIR);
}

/** Returns the options of an engine that opens no ports. */
export function engineOptions(
  env: EngineEnv,
  core: Core,
  egress: Egress,
  log: Logger,
): EngineOptions & { aws: AwsIdentity | undefined } {
  const { DATA_DIR, FILE_OUTPUT_DIR } = env;
  return {
    folder: join(DATA_DIR, 'engine'),
    database: core.database,
    tables: core.store,
    vault: core.vault,
    log,
    catalog: loadCatalog(),
    egress,
    aws: awsIdentityOf(env, core, egress),
    limits: {
      deadLetters: env.DEAD_LETTERS_MAX_BYTES,
      deadLetterCount: env.DEAD_LETTERS_MAX_COUNT,
      deadLettersFull: env.DEAD_LETTERS_WHEN_FULL,
    },
    buffers: {
      maxBytes: env.OUTPUT_BUFFER_BYTES,
      maxSpillBytes: env.OUTPUT_SPILL_BYTES,
      ...(env.MIN_FREE_BYTES !== undefined && { minFreeBytes: env.MIN_FREE_BYTES }),
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
    ...(FILE_OUTPUT_DIR === undefined
      ? {}
      : { filesFolder: ({ organizationId, id }) => join(FILE_OUTPUT_DIR, organizationId, id) }),
  };
}

/** Returns where inputs of an engine listen, and assigns missing ports. */
export async function listenerOptions(
  env: EngineEnv,
  { store }: Core,
  { catalog, folder, log }: Pick<EngineOptions, 'catalog' | 'folder' | 'log'>,
): Promise<Pick<EngineOptions, 'listenAt'>> {
  return { listenAt: await openSyslog(env, { store, catalog, folder, log }) };
}

/**
 * Returns the checks of an engine. Without what they check, the API works and buffered records are delivered.
 * @param buffers where they are, unless in the database
 */
export const engineChecks = (engine: RunningEngine, buffers?: 'disk' | 'nats'): ReadinessCheck[] => [
  ...(buffers ? [{ name: buffers, required: false, run: () => engine.checkBuffers() }] : []),
  { name: 'engine', required: false, run: () => engine.check() },
];

const isInside = (folder: string, path: string): boolean => {
  const relativePath = relative(resolve(folder), resolve(path));
  return (
    relativePath !== '' && relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)
  );
};

function natsOf(env: EngineEnv): NatsBuffers | undefined {
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

export const keyValueLimitsOf = ({
  KV_MAX_BYTES,
  KV_MAX_KEYS,
}: Pick<EngineEnv, 'KV_MAX_BYTES' | 'KV_MAX_KEYS'>): KeyValueLimits => ({
  maxBytes: KV_MAX_BYTES,
  maxKeys: KV_MAX_KEYS,
});

/** @throws EnvironmentError */
export function oauthClientsOf({ OAUTH_CLIENTS_FILE: file }: Pick<EngineEnv, 'OAUTH_CLIENTS_FILE'>): OAuthClients {
  if (file === undefined) return createOAuthClients([]);
  const catalog = loadCatalog();
  try {
    const types = CONNECTOR_KINDS.flatMap((kind) => catalog.list(kind));
    return createOAuthClients(parseOAuthClients(readFileSync(file, 'utf8'), types));
  } catch (error) {
    throw new EnvironmentError(error instanceof Error ? error.message : 'OAUTH_CLIENTS_FILE is not valid.');
  }
}
