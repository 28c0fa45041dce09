import type { Egress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import type { UserTokens } from '../auth/user-tokens.js';
import type { Clock } from '../clock.js';
import { describeError } from '../describe-error.js';
import type { FeatureFlags } from '../features/feature-flags.js';
import type { RateLimits } from '../http/rate-limits.js';
import type { Vault } from '../secrets/vault.js';
import type { SsoConnection } from '../store/sso-connections.js';
import type { Store } from '../store/store.js';
import type { SamlIdp } from '../store/tables.js';
import { createAccounts, type Accounts } from './accounts.js';
import { systemResolveTxt, type ResolveTxt } from './domain-proof.js';
import { createFlows, type Flows } from './flows.js';
import { createLocalSignIn, type LocalSignIn } from './local-sign-in.js';
import type { Mailer } from './mailer.js';
import { createOidc, type Oidc, type OidcSettings } from './oidc.js';
import { createPasswords, type PasswordCost, type Passwords } from './passwords.js';
import { createSaml, type Saml, type SamlIdentity } from './saml.js';
import { fetchMetadata } from './saml-metadata.js';
import { createSecondFactor, type SecondFactor } from './second-factor.js';
import { SignInProblem } from './sign-in-problem.js';
import { createSignInTokens, type SignInTokens } from './tokens.js';

/** How users sign in, as the operator decided. */
export interface SignInSettings {
  /** The operator's identity provider. Excludes local accounts. */
  oidc?: OidcSettings;
  /** Whether there are local accounts. Default false. */
  localAccounts?: boolean;
  /** Whether local accounts need a second factor. Default true. */
  requireSecondFactor?: boolean;
  /** Seconds until a sign-in ends. Default 12 hours. */
  ttl?: number;
  /** Default: `DEFAULT_PASSWORD_COST`. */
  passwordCost?: PasswordCost;
}

/** All parts of signing in. */
export interface SignInContext {
  /** Base URL of the service, without a slash at the end. */
  publicUrl: string;
  /** Its path, for links in pages: they work under each name of the service. */
  base: string;
  /** Origins of pages that users may return to, and that may call the API with a user's token. */
  consoleOrigins: ReadonlySet<string>;
  localAccounts: boolean;
  requireSecondFactor: boolean;
  oidc: Oidc | undefined;
  saml: Saml;
  connections: SamlConnections;
  flows: Flows;
  accounts: Accounts;
  local: LocalSignIn;
  passwords: Passwords;
  secondFactor: SecondFactor;
  tokens: SignInTokens;
  /** Absent without SMTP. */
  mailer: Mailer | undefined;
  resolveTxt: ResolveTxt;
  /** For what users change about themselves, and for sign-ins. */
  store: Store;
  clock: Clock;
  log: Logger;
}

/** Uses connections, with metadata that is read again from time to time. */
export interface SamlConnections {
  /** @throws ApiError 400 that says what is wrong with the metadata */
  readMetadata(url: string, entityId: string): Promise<SamlIdp>;
  begin(connection: SsoConnection): Promise<{ url: string; requestId: string }>;
  /** @throws SignInProblem */
  verify(connection: SsoConnection, response: string): Promise<SamlIdentity>;
}

/** Metadata is read again before a sign-in if it is older than this many milliseconds. */
const METADATA_TTL_MS = 12 * 3_600_000;
/** And after a response that can't be verified, if it is older than this: keys may have changed. */
const METADATA_MIN_AGE_MS = 300_000;
const DEFAULT_TTL = 12 * 3_600;

export interface SignInOptions {
  store: Store;
  vault: Vault;
  userTokens: UserTokens;
  flags: FeatureFlags;
  limits: RateLimits;
  egress: Egress;
  clock: Clock;
  log: Logger;
  publicUrl: string;
  consoleOrigins: ReadonlySet<string>;
  settings: SignInSettings;
  mailer?: Mailer;
  resolveTxt?: ResolveTxt;
}

/** Assembles what signs users in. */
export function createSignIn(options: SignInOptions): SignInContext {
  const { store, vault, userTokens, flags, limits, egress, clock, log, publicUrl, settings } = options;
  const saml = createSaml(publicUrl);
  const passwords = createPasswords(settings.passwordCost);
  const secondFactor = createSecondFactor(vault, clock);
  const { users, signIns } = store;
  return {
    publicUrl,
    base: new URL(publicUrl).pathname.replace(/\/$/, ''),
    consoleOrigins: options.consoleOrigins,
    localAccounts: settings.localAccounts ?? false,
    requireSecondFactor: settings.requireSecondFactor ?? true,
    oidc: settings.oidc && createOidc(settings.oidc, `${publicUrl}/v1/login/callback`, clock),
    saml,
    connections: createConnections(saml, { store, egress, clock, log }),
    flows: createFlows(vault, clock, publicUrl.startsWith('https:')),
    accounts: createAccounts({ store, clock }),
    local: createLocalSignIn({ users, passwords, secondFactor, flags, limits, vault, clock, log }),
    passwords,
    secondFactor,
    tokens: createSignInTokens({ signIns, vault, userTokens, clock, ttl: settings.ttl ?? DEFAULT_TTL }),
    mailer: options.mailer,
    resolveTxt: options.resolveTxt ?? systemResolveTxt(),
    store,
    clock,
    log,
  };
}

function createConnections(
  saml: Saml,
  { store, egress, clock, log }: Pick<SignInOptions, 'store' | 'egress' | 'clock' | 'log'>,
): SamlConnections {
  const readMetadata = (url: string, entityId: string): Promise<SamlIdp> =>
    fetchMetadata(egress, url, entityId, clock.now());

  /** Returns the connection with new metadata, or with the present one if it can't be read. */
  async function refreshed(connection: SsoConnection, minAgeMs: number): Promise<SsoConnection> {
    const now = clock.now();
    if (now - connection.idpReadAt.getTime() < minAgeMs) return connection;
    let { idp } = connection;
    try {
      idp = await readMetadata(connection.metadataUrl, connection.entityId);
    } catch (error) {
      log.warn(
        { connection_id: connection.id, problem: describeError(error) },
        'metadata of a connection not readable',
      );
    }
    await store.ssoConnections.refresh(connection.id, idp, new Date(now));
    return { ...connection, idp };
  }

  return {
    readMetadata,

    begin: async (connection) => saml.begin(await refreshed(connection, METADATA_TTL_MS)),

    async verify(connection, response) {
      try {
        return await saml.verify(connection, response);
      } catch (error) {
        if (!(error instanceof SignInProblem) || error.code !== 'response') throw error;
        const next = await refreshed(connection, METADATA_MIN_AGE_MS);
        if (isSame(next.idp.certificates, connection.idp.certificates)) throw error;
        return saml.verify(next, response);
      }
    },
  };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((each) => other.includes(each));
