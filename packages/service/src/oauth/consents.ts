import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { ConnectorTypeData, OAuthDefinition } from '@connector-frame/catalog/types';
import { effectiveConfig, getAt, validateConfig } from '@connector-frame/catalog/validate';
import type { Logger } from 'pino';
import { ApiError } from '../api-error.js';
import type { Session } from '../auth/session-tokens.js';
import type { Clock } from '../clock.js';
import { createDestination, type Destination } from '../secrets/destination.js';
import type { Vault } from '../secrets/vault.js';
import type { Consent, Consents as Rows } from '../store/consents.js';
import type { Organization } from '../store/store.js';
import { addressSettings, fillAddress } from './addresses.js';
import type { Checks } from './authorization-server.js';
import type { AuthorizationServers, Offer } from './authorization-servers.js';
import { sealable } from './grant.js';
import { OAuthProblem } from './oauth-problem.js';

/** Seconds that a customer may take at the vendor, and then to save the connector. */
export const CONSENT_TTL = 900;

/** A window on its way to the vendor. */
export interface OpenedWindow {
  url: string;
  /** Value of `Set-Cookie`. */
  cookie: string;
}

/** How a consent ended, for the page that the vendor sends the browser back to. */
export type Outcome = 'granted' | 'cancelled' | 'failed' | 'expired';

/**
 * Lets customers connect an account at a vendor: a session starts a consent, a window of the form goes
 * to the vendor with it, and the session that started it stores it with its connector.
 */
export interface ConsentService {
  /** Returns whether an account can be connected. */
  offers(type: ConnectorTypeData, organization: Organization): boolean;
  /**
   * Starts a consent for these settings.
   * @returns its id, and `state` for the window that the form opens
   * @throws ApiError 404 if no account can be connected with them, 400 `invalid_config` if a setting that
   *   is part of the vendor's address is not valid
   */
  start(
    type: ConnectorTypeData,
    settings: Readonly<Record<string, unknown>>,
    by: { session: Session; organization: Organization },
  ): Promise<{ id: string; state: string; expiresAt: Date }>;
  /** Sends a window to the vendor, once. Returns `undefined` if it has expired or was opened before. */
  open(state: string): Promise<OpenedWindow | undefined>;
  /**
   * Redeems what a browser brings back, once.
   * @param redirect the part of the path that names the client
   * @param query of the request, with the question mark
   */
  complete(
    redirect: string,
    query: string,
    cookies: string | undefined,
  ): Promise<{ outcome: Outcome; cookie?: string }>;
  /** Returns a consent of a session that has not expired. */
  find(id: string, session: Session): Promise<Consent | undefined>;
  /**
   * Returns the tokens of a consent, for the secret that it was given for.
   * @throws ApiError 422 `consent_expired` or `secret_reentry_required`
   */
  take(id: string, session: Session, type: ConnectorTypeData, destination: Destination): Promise<TakenConsent>;
}

export interface TakenConsent {
  id: string;
  /** The value of the secret: see `grantIn`. */
  value: string;
  account: string | null;
}

/** What redeems the code, until the consent is granted. */
interface Pending {
  checks: Checks;
  organization: Pick<Organization, 'id' | 'parentId'>;
  settings: Readonly<Record<string, unknown>>;
}

export interface ConsentServiceOptions {
  rows: Rows;
  vault: Vault;
  servers: AuthorizationServers;
  typeOf: (kind: ConnectorTypeData['kind'], typeId: string) => ConnectorTypeData | undefined;
  /** Base URL of the service, without a slash at the end. */
  publicUrl: string;
  clock: Clock;
  log: Logger;
}

export function createConsentService(options: ConsentServiceOptions): ConsentService {
  const { rows, vault, servers, typeOf, publicUrl, clock, log } = options;
  const isSecure = publicUrl.startsWith('https:');
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const digest = (text: string): Buffer => vault.digest('consent', text);
  const now = (): Date => new Date(clock.now());

  /** One cookie for each window, so that two forms don't disturb each other. */
  const cookieName = ({ stateDigest }: Consent): string =>
    `${isSecure ? '__Host-' : ''}consent-${stateDigest.toString('hex').slice(0, 16)}`;

  /** Returns what a row has to be redeemed with, or `undefined` if it was changed or its type no longer exists. */
  function pendingOf(row: Consent): { pending: Pending; type: ConnectorTypeData; offer: Offer } | undefined {
    const pending: Pending = JSON.parse(vault.openOwn(['consent', row.id], row.sealed));
    const type = typeOf(row.kind, row.typeId);
    const offer = type && servers.of(type, pending.organization);
    return type && offer && { pending, type, offer };
  }

  return {
    offers: (type, organization) => servers.of(type, organization) !== undefined,

    async start(type, given, { session, organization }) {
      const { settings } = effectiveConfig(type.config, given);
      const offer = servers.of(type, organization);
      const isOffered = offer?.oauth.when?.every(({ path, in: values, or_absent: orAbsent }) => {
        const value: unknown = getAt({ settings }, path);
        return value === undefined ? orAbsent === true : values.some((one) => one === value);
      });
      if (!offer || isOffered === false) throw new ApiError(404, 'not_found', NOT_OFFERED);
      checkAddresses(type, offer.oauth, settings);
      const { newChecks } = await import('./authorization-server.js');
      const checks = newChecks();
      const id = randomBytes(32).toString('base64url');
      const { id: organizationId, parentId } = organization;
      const pending: Pending = { checks, organization: { id: organizationId, parentId }, settings };
      const expiresAt = new Date(clock.now() + CONSENT_TTL * 1_000);
      await rows.start({
        id,
        organizationId,
        sessionId: session.id,
        kind: type.kind,
        typeId: type.type_id,
        stateDigest: digest(checks.state),
        browserDigest: null,
        destination: digest(createDestination(type, given).text()),
        status: 'created',
        sealed: vault.sealOwn(['consent', id], JSON.stringify(pending)),
        account: null,
        createdAt: now(),
        expiresAt,
      });
      return { id, state: checks.state, expiresAt };
    },

    async open(state) {
      const row = await rows.byState(digest(state), now());
      const found = row?.status === 'created' ? pendingOf(row) : undefined;
      if (!row || !found) return undefined;
      const browser = randomBytes(32).toString('base64url');
      const change = { status: 'opened', browserDigest: digest(browser) } as const;
      if (!(await rows.advance(row.id, 'created', change, now()))) return undefined;
      const { pending, offer } = found;
      const server = await offer.server(pending.settings);
      const url = await server.authorizationUrl(pending.checks);
      return { url, cookie: `${cookieName(row)}=${browser}; ${attributes}; Max-Age=${CONSENT_TTL}` };
    },

    async complete(redirect, query, cookies) {
      const [state, ...more] = new URLSearchParams(query).getAll('state');
      if (state === undefined || more.length > 0) return { outcome: 'expired' };
      const row = await rows.byState(digest(state), now());
      // The window that went to the vendor has the cookie. Without it, the row stays usable for that window.
      if (!row?.browserDigest || !isBrowser(row.browserDigest, cookies, cookieName(row))) return { outcome: 'expired' };
      if (row.status !== 'opened') return { outcome: 'expired' };
      const found = pendingOf(row);
      const cookie = `${cookieName(row)}=; ${attributes}; Max-Age=0`;
      if (found?.offer.client.redirect !== redirect) return { outcome: 'failed', cookie };
      if (!(await rows.advance(row.id, 'opened', { status: 'redeeming' }, now()))) return { outcome: 'expired' };
      try {
        const { pending, offer } = found;
        const server = await offer.server(pending.settings);
        const { grant, account } = await server.redeem(query, pending.checks);
        const sealed = vault.sealOwn(['consent', row.id], sealable(grant));
        await rows.advance(row.id, 'redeeming', { status: 'granted', sealed, account }, now());
        return { outcome: 'granted', cookie };
      } catch (error) {
        if (!(error instanceof OAuthProblem)) throw error;
        const outcome = error.code === 'denied' ? 'cancelled' : 'failed';
        log.info({ type_id: row.typeId, reason: error.code }, 'account not connected');
        await rows.advance(row.id, 'redeeming', { status: outcome }, now());
        return { outcome, cookie };
      }
    },

    async find(id, session) {
      const row = await rows.get(id);
      const isOwn = row?.sessionId === session.id && row.organizationId === session.organizationId;
      return isOwn && row.expiresAt.getTime() > clock.now() ? row : undefined;
    },

    async take(id, session, type, destination) {
      const row = await this.find(id, session);
      const field = type.oauth?.secret.slice('/secrets/'.length) ?? '';
      if (row?.status !== 'granted' || row.kind !== type.kind || row.typeId !== type.type_id)
        throw consentExpired(field);
      if (!row.destination.equals(digest(destination.text())))
        throw new ApiError(422, 'secret_reentry_required', MOVED, { details: issuesAt(field) });
      return { id, value: vault.openOwn(['consent', id], row.sealed), account: row.account };
    },
  };

  function isBrowser(expected: Buffer, cookies: string | undefined, name: string): boolean {
    return (cookies ?? '').split(';').some((part) => {
      const [key, value = ''] = part.trim().split('=');
      return key === name && timingSafeEqual(digest(value), expected);
    });
  }
}

/** Otherwise, a customer could have the secret of the operator's client sent to another host. */
function checkAddresses(type: ConnectorTypeData, oauth: OAuthDefinition, settings: Record<string, unknown>): void {
  const needed = addressSettings(oauth);
  const issues = validateConfig(type.config, { settings, secrets: {} }).filter(({ path }) => needed.includes(path));
  const [first] = needed;
  if (issues.length === 0 && first !== undefined) {
    const urls = [oauth.authorization_url, oauth.token_url, oauth.refresh_url ?? oauth.token_url];
    if (urls.some((url) => fillAddress(url, settings, oauth.suffixes) === undefined))
      issues.push({ path: first, code: 'pattern', message: 'No account can be connected at this address.' });
  }
  if (issues.length > 0)
    throw new ApiError(400, 'invalid_config', 'Some fields are not valid.', { details: { issues } });
}

const NOT_OFFERED = 'No account can be connected with these settings. Enter the secret instead.';
const MOVED = 'The account was connected for other settings. Connect it again.';

const issuesAt = (field: string) => ({ issues: [{ path: `/secrets/${field}`, code: 'required' }] });

/** Creates the error for a consent that can't be stored. */
export const consentExpired = (field: string): ApiError =>
  new ApiError(422, 'consent_expired', 'The connection to the account has expired. Connect it again.', {
    details: issuesAt(field),
  });
