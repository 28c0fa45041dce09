import { OpenAPIHono } from '@hono/zod-openapi';
import { getPathNoStrict } from 'hono/utils/url';
import type { Catalog } from '@connector-frame/catalog';
import { needsAwsIdentity, type AwsIdentity, type Connectors } from '@connector-frame/connectors';
import type { Egress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import { createPrincipals } from './auth/principals.js';
import type { SessionTokens } from './auth/session-tokens.js';
import type { UserTokens } from './auth/user-tokens.js';
import type { Clock } from './clock.js';
import { createCatalogResponses } from './connectors/catalog-responses.js';
import { createLookups } from './connectors/lookups.js';
import { createConnectionTests } from './connectors/test-connection.js';
import type { DropIn } from './embed/drop-in.js';
import type { FormAssets } from './embed/form-assets.js';
import { createParentOrigins } from './embed/parent-origins.js';
import { createFeatureFlags } from './features/feature-flags.js';
import type { FeatureDefaults } from './features/features.js';
import { methodNotAllowed, notFound } from './api-error.js';
import { createAllowedMethods } from './http/allowed-methods.js';
import { createClientAddress } from './http/client-address.js';
import { createCors } from './http/cors.js';
import { createAccessControl } from './http/access-control.js';
import { createIdempotently } from './http/idempotent.js';
import { mountRoutes } from './http/mount-routes.js';
import { createObserver } from './http/observe.js';
import { openApiDocument } from './http/openapi.js';
import type { RateLimits } from './http/rate-limits.js';
import { requestEntry } from './http/request-entry.js';
import { respond } from './http/respond.js';
import { createIngestContext, type SyslogSettings } from './ingest/ingest-context.js';
import type { Metrics } from './metrics.js';
import { noEngine, type PipelineEngine } from './pipelines/engine.js';
import type { Readiness } from './readiness.js';
import { allRoutes } from './routes/index.js';
import { createAuthorizationServers } from './oauth/authorization-servers.js';
import { createOAuthClients, type OAuthClients } from './oauth/clients.js';
import { createConsentService } from './oauth/consents.js';
import { createTokenRefresher } from './oauth/granted-tokens.js';
import { createSecretExchanges } from './secrets/secret-exchanges.js';
import type { Vault } from './secrets/vault.js';
import { createSignIn, type SignInSettings } from './sign-in/create-sign-in.js';
import type { ResolveTxt } from './sign-in/domain-proof.js';
import type { Mailer } from './sign-in/mailer.js';
import { DEFAULT_KEY_VALUE_LIMITS, type KeyValueLimits } from './store/key-values.js';
import type { Store } from './store/store.js';

export interface AppSettings {
  /** Public base URL of the service, without a trailing slash: `https://connect.example`. */
  publicUrl: string;
  /** Additional base URLs of the API that a host page may pass to the form. */
  apiBases?: readonly string[];
  /** Origins that serve the form. The service's own origin is always included. */
  embedOrigins?: readonly string[];
  /** Origins of pages that may embed the frame for any organization. */
  allowedParentOrigins: readonly string[];
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: readonly string[];
  /** Bearer token required to read `/metrics`. If absent, `/metrics` is public. */
  metricsToken?: string;
  /** Origins of pages that users sign in to, and that call the API with their tokens. */
  consoleOrigins?: readonly string[];
  /** How users sign in. Default: only through connections of organizations. */
  signIn?: SignInSettings;
  /** Whether pipelines run, in this replica or another one. Default: whether there is an engine. */
  runsPipelines?: boolean;
  /** Whether outputs can write files on this machine. Default true. */
  fileOutputs?: boolean;
  /** Whether types in beta are offered. Default true. */
  betaTypes?: boolean;
  /** Whether keys with `pipeline:data:read` may watch records that pass a node. Default true. */
  nodeData?: boolean;
  /** Whether nodes of pipelines may override settings of their connectors. Default true. */
  configOverrides?: boolean;
  /** Folder with the operator's files for enrichments. If absent, they can't read files. */
  lookupFolder?: string;
  /** Maximum size of the table of a KV lookup output. */
  keyValueLimits?: KeyValueLimits;
  /**
   * Page of the host on which an account pays for a product, with `{billing_account_id}` and
   * `{product_id}`.
   */
  checkoutUrl?: string;
  /** Clients that the operator registered at vendors. Default: none, so that no account can be connected. */
  oauthClients?: OAuthClients;
  /** Where the operator put the CloudFormation template of a role for the service, in Amazon S3. */
  roleTemplateUrl?: string;
  /** Host and ports that syslog senders are given. */
  syslog?: SyslogSettings;
}

export interface AppDeps {
  store: Store;
  secrets: Vault;
  sessions: SessionTokens;
  userTokens: UserTokens;
  /** Sends invitations. If absent, their links are in responses. */
  mailer?: Mailer;
  /** Looks up the proof that a domain belongs to an organization. Default: the machine's resolver. */
  resolveTxt?: ResolveTxt;
  catalog: Catalog;
  /** Implementations of the connector types, for connection tests and pipelines. */
  connectors: Connectors;
  egress: Egress;
  /** The service's own identity at AWS. Absent: the operator has configured none. */
  aws?: AwsIdentity | undefined;
  limits: RateLimits;
  readiness: Readiness;
  /** The built form. If absent, `/embed/` is not served. */
  form?: FormAssets;
  /** The built drop-in. If absent, `/v/` is not served. */
  dropIn?: DropIn;
  /** Runs pipelines. If absent, no pipeline runs and every status is `Unknown`. */
  engine?: PipelineEngine;
  /** Aborted when the service begins to shut down; ends streaming responses. */
  closing?: AbortSignal;
  settings: AppSettings;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

/** The service as a Hono app. It opens no port and reads neither the environment nor files. */
export type App = OpenAPIHono;

/**
 * Assembles the service. Several apps can share the same dependencies.
 *
 * @example
 * ```ts
 * const app = createApp(deps);
 * const response = await app.request('/livez');
 * ```
 */
export function createApp(deps: AppDeps): App {
  const { store, secrets, sessions, userTokens, catalog, limits, settings, clock, log, metrics } = deps;
  const embedOrigins = new Set([new URL(settings.publicUrl).origin, ...(settings.embedOrigins ?? [])]);
  const consoleOrigins = new Set(settings.consoleOrigins);
  const principals = createPrincipals({ store, vault: secrets, sessions, userTokens, clock });
  const clientAddress = createClientAddress(settings.trustedProxies ?? []);
  const accessControl = createAccessControl({ principals, limits, clientAddress, embedOrigins, consoleOrigins });
  const lookupsOf = createLookups({
    keyValues: store.keyValues,
    now: () => clock.now(),
    folder: settings.lookupFolder,
  });
  const exchanges = createSecretExchanges({
    tables: store,
    locks: store.locks,
    vaultOf: (organizationId) => secrets.ofOrganization(store, organizationId),
    catalog,
  });
  const { connectors, egress } = deps;
  const servers = createAuthorizationServers({
    clients: settings.oauthClients ?? createOAuthClients([]),
    egress,
    now: () => clock.now(),
    publicUrl: settings.publicUrl,
  });
  const tests = createConnectionTests({ connectors, egress, lookupsOf, aws: deps.aws, metrics });
  const cors = createCors(new Set([...embedOrigins, ...consoleOrigins]));
  const engine = deps.engine ?? noEngine;
  const flags = createFeatureFlags({ store, defaults: featureDefaults(deps), clock });
  const signIn = createSignIn({
    store,
    vault: secrets,
    userTokens,
    flags,
    limits,
    egress: deps.egress,
    clock,
    log,
    publicUrl: settings.publicUrl,
    consoleOrigins,
    settings: settings.signIn ?? {},
    ...(deps.mailer && { mailer: deps.mailer }),
    ...(deps.resolveTxt && { resolveTxt: deps.resolveTxt }),
  });
  const observe = createObserver(log, metrics, (request) =>
    engine.logRequest(request.organizationId, requestEntry(request)),
  );

  // Trailing slashes are optional on every route. The clients of the public API put `/api` before
  // each path.
  const app: App = new OpenAPIHono({
    getPath(request) {
      const path = getPathNoStrict(request);
      return path.startsWith('/api/') ? path.replace(/^\/api(?=\/v\d)/, '') : path;
    },
  });
  const routes = allRoutes({
    context: {
      store,
      vault: secrets,
      exchanges,
      consents: createConsentService({
        rows: store.consents,
        vault: secrets,
        servers,
        typeOf: (kind, typeId) => catalog.get(kind, typeId),
        publicUrl: settings.publicUrl,
        clock,
        log,
      }),
      refresher: createTokenRefresher({ tables: store, servers, clock }),
      aws: deps.aws,
      roleTemplateUrl: settings.roleTemplateUrl,
      publicUrl: settings.publicUrl,
      sessions,
      principals,
      accessControl,
      catalog,
      catalogAnswers: createCatalogResponses({
        catalog,
        supportsTest: (type) => tests.supports(type),
        hasClient: (type) => settings.oauthClients?.has(type) === true,
        isSetUp: (type) => deps.aws !== undefined || !needsAwsIdentity(type),
        runs: (type) => {
          const { createInput, createOutput, createEnrichment } = connectors(type);
          return { input: createInput, output: createOutput, enrichment: createEnrichment }[type.kind] !== undefined;
        },
        iconUrl: (typeId) => `${settings.publicUrl}/external/icons/raw/${typeId}.svg`,
      }),
      tests,
      connectors,
      egress,
      lookupsOf,
      keyValueLimits: settings.keyValueLimits ?? DEFAULT_KEY_VALUE_LIMITS,
      engine,
      closing: deps.closing ?? new AbortController().signal,
      parentOrigins: createParentOrigins(settings.allowedParentOrigins, store, clock),
      limits,
      flags,
      signIn,
      checkoutUrl: settings.checkoutUrl,
      metrics,
      clock,
      ingest: createIngestContext(deps, settings),
    },
    health: {
      readiness: deps.readiness,
      ...(settings.metricsToken === undefined ? {} : { metricsToken: settings.metricsToken }),
    },
    apiBases: [settings.publicUrl, ...(settings.apiBases ?? [])],
    ...(deps.form ? { form: deps.form } : {}),
    ...(deps.dropIn ? { dropIn: { dropIn: deps.dropIn, publicUrl: settings.publicUrl } } : {}),
  });
  mountRoutes(app, routes, {
    accessControl,
    store,
    idempotently: createIdempotently(store, secrets, clock),
    clock,
    observe,
    cors,
  });

  // Written for the first reader: it takes a tenth of the time to start.
  let document: string | undefined;
  const anyone = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };
  app.get('/openapi.json', () => respond(200, (document ??= openApiDocument(app, settings.publicUrl)), anyone));
  app.options('*', (c) => observe(c, 'OPTIONS').done(cors.preflight(c.req.raw)));
  const allowedMethods = createAllowedMethods(routes);
  app.notFound((c) => {
    const request = observe(c, 'unknown');
    const allowed = allowedMethods(c.req.path);
    const rejection = allowed.length > 0 ? methodNotAllowed(allowed) : notFound();
    const headers = { 'Request-Id': request.id, ...rejection.options.headers };
    return request.done(respond(rejection.status, rejection.toJSON(), headers));
  });
  app.onError((error, c) => {
    const request = observe(c, 'unknown');
    const failure = request.failed(error);
    return request.done(respond(failure.status, failure.toJSON(), { 'Request-Id': request.id }));
  });
  return app;
}

const featureDefaults = ({ engine, settings }: AppDeps): FeatureDefaults => ({
  engine: settings.runsPipelines ?? engine !== undefined,
  file_outputs: settings.fileOutputs ?? true,
  node_data: settings.nodeData ?? true,
  config_overrides: settings.configOverrides ?? true,
  beta_types: settings.betaTypes ?? true,
  local_sign_in: settings.signIn?.localAccounts ?? false,
  oidc_sign_in: settings.signIn?.oidc !== undefined,
});
