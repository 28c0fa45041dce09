import type { Catalog } from '@connector-frame/catalog';
import type { AwsIdentity, Connectors } from '@connector-frame/connectors';
import type { Egress } from '@connector-frame/engine/egress';
import type { Principals } from '../auth/principals.js';
import type { SessionTokens } from '../auth/session-tokens.js';
import type { Clock } from '../clock.js';
import type { CatalogResponses } from '../connectors/catalog-responses.js';
import type { LookupsOf } from '../connectors/lookups.js';
import type { ConnectionTests } from '../connectors/test-connection.js';
import type { FeatureFlags } from '../features/feature-flags.js';
import type { ParentOrigins } from '../embed/parent-origins.js';
import type { AccessControl } from '../http/access-control.js';
import type { RateLimits } from '../http/rate-limits.js';
import type { IngestContext } from '../ingest/ingest-context.js';
import type { Metrics } from '../metrics.js';
import type { PipelineEngine } from '../pipelines/engine.js';
import type { SecretExchanges } from '../secrets/secret-exchanges.js';
import type { ConsentService } from '../oauth/consents.js';
import type { TokenRefresher } from '../oauth/granted-tokens.js';
import type { Vault } from '../secrets/vault.js';
import type { SignInContext } from '../sign-in/create-sign-in.js';
import type { KeyValueLimits } from '../store/key-values.js';
import type { ReadTables } from '../store/store.js';

/** Dependencies of the routes. */
export interface RouteContext {
  /** For reads. Routes write through `commit`, which also appends to the audit log. */
  store: ReadTables;
  vault: Vault;
  /** Replaces stored secrets, for vendors that do so. */
  exchanges: SecretExchanges;
  /** Connects accounts at vendors. */
  consents: ConsentService;
  refresher: TokenRefresher;
  /** The service's own identity at AWS. */
  aws: AwsIdentity | undefined;
  /** Where CloudFormation reads the template of a role for the service. */
  roleTemplateUrl: string | undefined;
  /** Base URL of the service, without a slash at the end. */
  publicUrl: string;
  sessions: SessionTokens;
  principals: Principals;
  accessControl: AccessControl;
  catalog: Catalog;
  catalogAnswers: CatalogResponses;
  tests: ConnectionTests;
  /** For lookups outside of a pipeline. */
  connectors: Connectors;
  egress: Egress;
  lookupsOf: LookupsOf;
  keyValueLimits: KeyValueLimits;
  engine: PipelineEngine;
  /** Aborted when the service begins to shut down. */
  closing: AbortSignal;
  parentOrigins: ParentOrigins;
  limits: RateLimits;
  /** What the operator switched on and off. */
  flags: FeatureFlags;
  /** How users sign in. */
  signIn: SignInContext;
  /** Template of the page on which an account pays for a product. */
  checkoutUrl: string | undefined;
  metrics: Metrics;
  clock: Clock;
  /** URLs, ports and tokens of connectors that receive records. */
  ingest: IngestContext;
}
