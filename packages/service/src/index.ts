export { createApp, type App, type AppDeps, type AppSettings } from './app.js';
export { bootstrap, type Bootstrapped, type BootstrapOptions } from './bootstrap.js';
export { createServer, type RunningServer } from './server.js';
export { createWorker, type RunningWorker } from './worker.js';
export { EnvironmentError, readEnv, type Env } from './env.js';
export { openCore, type Core } from './open-core.js';
export { createLog } from './log.js';
export { createMetrics, type Metrics } from './metrics.js';
export {
  createReadiness,
  databaseChecks,
  type Readiness,
  type ReadinessCheck,
  type ReadinessReport,
} from './readiness.js';
export {
  createSessionTokens,
  SESSION_TTL,
  type Session,
  type SessionScope,
  type SessionTokens,
} from './auth/session-tokens.js';
export { createUserTokens, type UserTokens } from './auth/user-tokens.js';
export type { SignInSettings } from './sign-in/create-sign-in.js';
export { createMailer, type Mail, type Mailer } from './sign-in/mailer.js';
export { permissions, permissionSets, type Grant, type Permission } from './permissions.js';
export { systemClock, type Clock } from './clock.js';
export { loadDropIn, type DropIn } from './embed/drop-in.js';
export { loadFormAssets, type FormAssets } from './embed/form-assets.js';
export { errorTypes, type ErrorType } from './api-error.js';
export { createRateLimits, defaultRateLimits, type RateLimits, type RateLimitSettings } from './http/rate-limits.js';
export { createIngest, type Ingest, type IngestOptions } from './ingest/create-ingest.js';
export { createIngestTokens, type IngestTokens } from './ingest/tokens.js';
export { MasterKeyError, type Vault } from './secrets/vault.js';
export { masterKey, readMasterKey, type MasterKey } from './secrets/master-key.js';
export { FolderInUseError } from './store/folder-lock.js';
export { FolderNotPrivateError } from './store/private-folder.js';
export { EngineInUseError } from './pipelines/running/engine-lease.js';
export type { EngineOptions, RunningEngine } from './pipelines/running/engine-options.js';
export { openEngine } from './pipelines/running/open-engine.js';
export type { EngineMetrics } from './metrics.js';
export type { Ingested, MetricsPoint, PipelineEngine, PipelineMetrics } from './pipelines/engine.js';
export type { Pipeline, Store } from './store/store.js';
