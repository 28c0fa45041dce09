import type { EmbeddedBusOptions, LetterBounds, RunnerLimits, Clock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import type { PipelineMeter } from '../../metrics.js';
import type { OAuthClients } from '../../oauth/clients.js';
import type { Vault } from '../../secrets/vault.js';
import type { Database } from '../../store/database.js';
import type { KeyValueLimits } from '../../store/key-values.js';
import type { Tables } from '../../store/store.js';
import type { UsageWebhookSettings } from '../../usage/usage-webhook.js';
import type { PipelineEngine } from '../engine.js';
import type { ComponentTools } from './components-of.js';
import type { NatsBuffers } from './create-bus.js';

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

/** An engine of this process. */
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
