import type { Catalog } from '@connector-frame/catalog';
import type { Principals } from '../auth/principals.js';
import type { SessionTokens } from '../auth/session-tokens.js';
import type { Clock } from '../clock.js';
import type { CatalogAnswers } from '../connectors/catalog-answers.js';
import type { ConnectionTests } from '../connectors/test-connection.js';
import type { ParentOrigins } from '../embed/parent-origins.js';
import type { Gate } from '../http/gate.js';
import type { RateLimits } from '../http/rate-limits.js';
import type { IngestContext } from '../ingest/ingest-context.js';
import type { Metrics } from '../metrics.js';
import type { PipelineEngine } from '../pipelines/engine.js';
import type { Vault } from '../secrets/vault.js';
import type { Store } from '../store/store.js';

/** What routes work with. */
export interface RouteContext {
  store: Store;
  vault: Vault;
  sessions: SessionTokens;
  principals: Principals;
  gate: Gate;
  catalog: Catalog;
  catalogAnswers: CatalogAnswers;
  tests: ConnectionTests;
  engine: PipelineEngine;
  /** Aborted when the service is about to close. */
  closing: AbortSignal;
  parentOrigins: ParentOrigins;
  limits: RateLimits;
  metrics: Metrics;
  clock: Clock;
  /** How records reach connectors that are sent to. */
  ingest: IngestContext;
}
