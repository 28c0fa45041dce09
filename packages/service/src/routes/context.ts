import type { Catalog } from '@connector-frame/catalog';
import type { Principals } from '../auth/principals.js';
import type { SessionTokens } from '../auth/session-tokens.js';
import type { Clock } from '../clock.js';
import type { CatalogResponses } from '../connectors/catalog-responses.js';
import type { ConnectionTests } from '../connectors/test-connection.js';
import type { ParentOrigins } from '../embed/parent-origins.js';
import type { AccessControl } from '../http/access-control.js';
import type { RateLimits } from '../http/rate-limits.js';
import type { IngestContext } from '../ingest/ingest-context.js';
import type { Metrics } from '../metrics.js';
import type { PipelineEngine } from '../pipelines/engine.js';
import type { Vault } from '../secrets/vault.js';
import type { ReadTables } from '../store/store.js';

/** Dependencies of the routes. */
export interface RouteContext {
  /** For reads. Routes write through `commit`, which also appends to the audit log. */
  store: ReadTables;
  vault: Vault;
  sessions: SessionTokens;
  principals: Principals;
  accessControl: AccessControl;
  catalog: Catalog;
  catalogAnswers: CatalogResponses;
  tests: ConnectionTests;
  engine: PipelineEngine;
  /** Aborted when the service begins to shut down. */
  closing: AbortSignal;
  parentOrigins: ParentOrigins;
  limits: RateLimits;
  /** Whether records that pass a node may be watched. */
  nodeData: boolean;
  /** Whether nodes of pipelines may get new overrides. */
  configOverrides: boolean;
  /** Template of the page on which an account pays for a product. */
  checkoutUrl: string | undefined;
  metrics: Metrics;
  clock: Clock;
  /** URLs, ports and tokens of connectors that receive records. */
  ingest: IngestContext;
}
