import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { loadCatalog } from '@connector-frame/catalog';
import type { Logger } from 'pino';
import { createApp, type App, type AppSettings } from '../../packages/service/src/app.js';
import { bootstrap } from '../../packages/service/src/bootstrap.js';
import { createSessionTokens, type SessionTokens } from '../../packages/service/src/auth/session-tokens.js';
import { createUserTokens, type UserTokens } from '../../packages/service/src/auth/user-tokens.js';
import type { Clock } from '../../packages/service/src/clock.js';
import { createEgress, type Egress } from '../../packages/engine/src/egress/index.js';
import type { DropIn } from '../../packages/service/src/embed/drop-in.js';
import type { FormAssets } from '../../packages/service/src/embed/form-assets.js';
import { createRateLimits, type RateLimitSettings } from '../../packages/service/src/http/rate-limits.js';
import { createConformance, type Conformance } from './conformance.js';
import { createLog } from '../../packages/service/src/log.js';
import { createMetrics, type Metrics } from '../../packages/service/src/metrics.js';
import type { PipelineEngine } from '../../packages/service/src/pipelines/engine.js';
import type { EngineOptions, RunningEngine } from '../../packages/service/src/pipelines/running/engine-options.js';
import { openEngine } from '../../packages/service/src/pipelines/running/open-engine.js';
import { openSharedEngine } from '../../packages/service/src/pipelines/shared/open-shared-engine.js';
import { createReadiness, databaseChecks, type Readiness } from '../../packages/service/src/readiness.js';
import { masterKey, type MasterKey } from '../../packages/service/src/secrets/master-key.js';
import { awsExternalId } from '../../packages/service/src/secrets/aws-external-id.js';
import { openVault, type Vault } from '../../packages/service/src/secrets/vault.js';
import { createStore } from '../../packages/service/src/store/create-store.js';
import type { Database } from '../../packages/service/src/store/database.js';
import type { ResolveTxt } from '../../packages/service/src/sign-in/domain-proof.js';
import type { Mailer } from '../../packages/service/src/sign-in/mailer.js';
import type { Store } from '../../packages/service/src/store/store.js';
import { connectors, createAwsIdentity, type AwsIdentityOptions } from '../../packages/connectors/src/index.js';

/** Disables every rate limit. */
export const unlimited: RateLimitSettings = {
  address: null,
  key: null,
  organization: null,
  session: null,
  test: null,
  test_key: null,
  test_type: null,
  test_organization: null,
  user: null,
  sign_in: null,
  sign_in_address: null,
  invite: null,
};

/** Origin of the page that embeds the frame in these tests. */
export const PARENT = 'https://app.example';
/** Public URL of the service in these tests. */
export const PUBLIC_URL = 'https://connect.example';

export interface TestServiceOptions {
  database: Database;
  /** Master key of another service on the same database. */
  master?: MasterKey;
  limits?: Partial<RateLimitSettings>;
  settings?: Partial<AppSettings>;
  form?: FormAssets;
  dropIn?: DropIn;
  /** Ranges that connection tests may reach. */
  egressAllow?: readonly string[];
  /** Replaces the guarded egress, to observe its traffic. */
  egress?: Egress;
  clock?: TestClock;
  mailer?: Mailer;
  /** Default: no name has a TXT record. */
  resolveTxt?: ResolveTxt;
  /** The engine that runs pipelines; absent: none. */
  engine?: PipelineEngine;
  /** The service's own identity at AWS. */
  aws?: Pick<AwsIdentityOptions, 'keys' | 'region' | 'endpoint'>;
  /**
   * Runs pipelines with the embedded engine. Without a folder, it uses a temporary one that `close`
   * removes.
   */
  run?: Partial<
    Pick<
      EngineOptions,
      | 'folder'
      | 'limits'
      | 'filesFolder'
      | 'labeledPipelines'
      | 'listenAt'
      | 'clock'
      | 'keyValueLimits'
      | 'lookupFolder'
      | 'oauthClients'
      | 'nats'
    >
  > & {
    /** Shares pipelines with other services on the same PostgreSQL. */
    isShared?: boolean;
  };
}

/** A clock that advances only through `advance`. */
export interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

export function createTestClock(): TestClock {
  const start = Date.now();
  let elapsed = 0;
  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    advance(milliseconds) {
      elapsed += milliseconds;
    },
  };
}

/** A parent organization, a team of it, and an API key. */
export interface Tenant {
  id: string;
  key: string;
  /** A team of the organization. */
  team: string;
}

export interface TestService {
  app: App;
  database: Database;
  store: Store;
  vault: Vault;
  sessions: SessionTokens;
  userTokens: UserTokens;
  master: MasterKey;
  readiness: Readiness;
  clock: TestClock;
  /** Lines written to the log. */
  log: string[];
  logger: Logger;
  metrics: Metrics;
  /** Present with `run`. */
  engine: RunningEngine | undefined;
  /** Stops the engine and closes the app's resources, then the database. */
  close(): Promise<void>;
  /** Creates a parent organization of that name with a team and an API key. */
  tenant(name: string): Promise<Tenant>;
  /** Mints a session token through the API. */
  session(tenant: Tenant, options?: Record<string, unknown>): Promise<string>;
  /**
   * Calls the API in this process and checks the response against the OpenAPI document. `key`,
   * `session` and `user` are credentials.
   */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface CallOptions {
  key?: string;
  session?: string;
  /** Access token of a user. */
  user?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Address of the client. */
  peer?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The response body as JSON; an empty object if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
  body: any;
}

/** Creates the real service on a real database, without a port. */
export async function createTestService(options: TestServiceOptions): Promise<TestService> {
  const { database, master = masterKey(randomBytes(32)), clock = createTestClock() } = options;
  const lines: string[] = [];
  const log = createLog(
    'trace',
    new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) }),
  );
  const metrics = createMetrics();
  const store = createStore(database);
  const vault = await openVault(store, { current: master }, clock);
  const sessions = createSessionTokens([master.derive('sessions')], clock);
  const userTokens = createUserTokens([master.derive('users')], clock);
  const readiness = createReadiness(databaseChecks(store, vault, await store.schemaVersion()));
  const egress = options.egress ?? createEgress({ allow: options.egressAllow ?? [] });
  const catalog = loadCatalog();
  const aws =
    options.aws &&
    createAwsIdentity({
      ...options.aws,
      egress,
      now: () => clock.now(),
      externalIdOf: (id) => awsExternalId(vault, id),
    });
  const own = options.run && !options.run.folder ? await mkdtemp(join(tmpdir(), 'engine-')) : undefined;
  const engine =
    options.run &&
    (await (options.run.isShared === true ? openSharedEngine : openEngine)({
      folder: own ?? '',
      database,
      tables: store,
      vault,
      log,
      catalog,
      egress,
      aws,
      ...options.run,
    }));
  if (engine) metrics.watchPipelines(engine);
  const closing = new AbortController();
  const runs = engine ?? options.engine;
  const app = createApp({
    store,
    secrets: vault,
    sessions,
    userTokens,
    ...(options.mailer && { mailer: options.mailer }),
    resolveTxt: options.resolveTxt ?? (() => Promise.reject(new Error('no record'))),
    catalog,
    connectors,
    egress,
    aws,
    limits: createRateLimits({ ...unlimited, ...options.limits }, database.pool),
    readiness,
    ...(options.form ? { form: options.form } : {}),
    ...(options.dropIn ? { dropIn: options.dropIn } : {}),
    ...(runs ? { engine: runs } : {}),
    closing: closing.signal,
    settings: { publicUrl: PUBLIC_URL, allowedParentOrigins: [PARENT], ...options.settings },
    clock,
    log,
    metrics,
  });
  // The form and the drop-in add routes; settings may.
  const variant = JSON.stringify([options.settings, Boolean(options.form), Boolean(options.dropIn)]);
  const call = caller(app, await createConformance(app, variant));

  return {
    app,
    database,
    store,
    vault,
    sessions,
    userTokens,
    master,
    readiness,
    clock,
    log: lines,
    logger: log,
    metrics,
    engine,
    call,

    async close() {
      closing.abort();
      await engine?.close();
      await store.close();
      if (own !== undefined) await rm(own, { recursive: true, force: true });
    },

    async tenant(name) {
      // Not the operator's: tests of isolation use the keys of two tenants.
      const options = { organization: name, teams: [`${name} team`], operator: false };
      const made = await bootstrap({ store, secrets: vault, clock }, options);
      return { id: made.organizationId, key: made.apiKey, team: made.teams[`${name} team`] ?? '' };
    },

    async session({ key, team }, params = {}) {
      const { status, text, body } = await call('POST', '/v3/sessions', {
        key,
        body: { organization_id: team, ...params },
      });
      if (status !== 200) throw new Error(`no session: ${text}`);
      return body.session_token;
    },
  };
}

function caller(app: App, conform: Conformance): TestService['call'] {
  return async (method, path, { key, session, user, body, headers = {}, peer = '192.0.2.1' } = {}) => {
    const bearer = session ?? user;
    const response = await app.request(
      path,
      {
        method,
        headers: {
          ...(key === undefined ? {} : { 'x-api-key': key }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      },
      { incoming: { socket: { remoteAddress: peer } } },
    );
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const { status, headers: received } = response;
    const result = { status, headers: received, text, body: isJson ? JSON.parse(text) : {} };
    conform(method, path, { status, headers: received, text, ...(isJson && { json: result.body }) });
    return result;
  };
}
