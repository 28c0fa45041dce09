import { join } from 'node:path';
import { systemClock } from '@connector-frame/engine';
import { createAlertRecords, type EventSignals } from '../../alerts/alert-records.js';
import { createLookups } from '../../connectors/lookups.js';
import { describeError } from '../../describe-error.js';
import { createAuthorizationServers } from '../../oauth/authorization-servers.js';
import { createOAuthClients } from '../../oauth/clients.js';
import { createTokenRefresher } from '../../oauth/granted-tokens.js';
import { createSecretExchanges } from '../../secrets/secret-exchanges.js';
import { createAlertWriter, type AlertWriter } from '../../store/alert-writer.js';
import { createEdgeSchemaWriter } from '../../store/edge-schemas.js';
import type { EngineRight } from '../../store/engine-leases.js';
import { createKeyValueWriter, DEFAULT_KEY_VALUE_LIMITS } from '../../store/key-values.js';
import { locksOf } from '../../store/locks.js';
import { createUsageLimits } from '../../store/usage-limits.js';
import { createUsageWriter, type UsageWriter } from '../../store/usage-writer.js';
import { QuotaKeeper } from '../../usage/quota-keeper.js';
import { UsageMeter } from '../../usage/usage-meter.js';
import { dueAt } from '../../usage/usage-webhook.js';
import { createActivityRecords } from './activity-records.js';
import { idleLimits, type EngineOptions } from './engine-options.js';
import type { RunningTools } from './running-pipeline.js';

export interface EngineToolsOptions {
  options: EngineOptions;
  /** What entitles this process to write. */
  right: EngineRight;
  signals: EventSignals;
  /** Parts that differ between engines. */
  parts: Pick<RunningTools, 'bus' | 'coordinator' | 'holder' | 'folder' | 'logs' | 'shared'>;
  /** Suspends or resumes the pipelines of an organization whose quota has changed. */
  suspend: (organizationId: string) => void;
  /** Writes a warning about a quota to the logs of an organization's pipelines. */
  warn: (organizationId: string, message: string) => void;
}

export interface EngineTools {
  tools: RunningTools;
  meter: UsageMeter;
  quotas: QuotaKeeper;
  usageWriter: UsageWriter;
  alertWriter: AlertWriter;
}

/** Opens what pipelines use, and the meter of their usage. */
export async function openEngineTools({
  options,
  right,
  signals,
  parts,
  suspend,
  warn,
}: EngineToolsOptions): Promise<EngineTools> {
  const {
    folder,
    database,
    tables,
    vault,
    log,
    clock = systemClock,
    limits,
    lookupFolder,
    oauthClients = createOAuthClients([]),
    keyValueLimits = DEFAULT_KEY_VALUE_LIMITS,
    usageWebhook,
    ...rest
  } = options;
  const keyValues = createKeyValueWriter(database, right, keyValueLimits);
  const lookupsOf = createLookups({ keyValues: tables.keyValues, now: () => clock.now(), folder: lookupFolder });
  const alertWriter = createAlertWriter(database, right);
  const usageWriter = createUsageWriter(database);
  const meter = await UsageMeter.open({
    folder: join(folder, 'usage'),
    holder: parts.holder,
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
    changed: suspend,
    warn,
    log,
  });
  meter.onUsedUp = () => quotas.check();
  const vaultOf: RunningTools['vaultOf'] = (organizationId) => vault.ofOrganization(tables, organizationId);
  const tools: RunningTools = {
    ...rest,
    ...parts,
    clock,
    exchanges: createSecretExchanges({ tables, locks: locksOf(database), vaultOf, catalog: rest.catalog }),
    refresher: createTokenRefresher({
      tables,
      servers: createAuthorizationServers({ clients: oauthClients, egress: rest.egress, now: () => clock.now() }),
      clock,
    }),
    lookupsOf,
    tableOf: ({ id, organizationId }) => ({
      put: (entries, ttlMs) => keyValues.put(id, entries, new Date(clock.now()), ttlMs),
      get: async (keys) => (await lookupsOf(organizationId).keyValues?.of(id).get(keys)) ?? new Map(),
    }),
    alertsOf: (pipeline, nodeId) => createAlertRecords(tables.alertEvents, signals, pipeline, nodeId),
    activityOf: (organizationId) => createActivityRecords(tables.auditLogs, organizationId, clock),
    beginFeed: (pipelineId, nodeId) => alertWriter.beginFeed(pipelineId, nodeId),
    vaultOf,
    reseal: (reseals) =>
      tables.secrets.reseal(reseals).catch((error: unknown) => {
        log.warn({ problem: describeError(error) }, 'could not reseal secrets; the next start retries');
      }),
    schemas: createEdgeSchemaWriter(database, right),
    meter,
    suspensionOf: (organizationId) => quotas.suspensionOf(organizationId),
    limits: () => ({ ...idleLimits(), ...limits }),
  };
  return { tools, meter, quotas, usageWriter, alertWriter };
}
