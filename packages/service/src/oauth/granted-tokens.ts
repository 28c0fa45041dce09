import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { effectiveConfig } from '@connector-frame/catalog/validate';
import { ConnectorError, type GrantedTokens, type ReplaceableSecrets } from '@connector-frame/engine/connector-api';
import type { Clock } from '../clock.js';
import type { Connector, Organization, StoredSecret, Tables } from '../store/store.js';
import type { AuthorizationServers } from './authorization-servers.js';
import { grantIn, isFresh, sealable, type Grant } from './grant.js';
import { OAuthProblem, type OAuthProblemCode } from './oauth-problem.js';

export interface GrantedTokensOptions {
  tables: Pick<Tables, 'secrets' | 'organizations'>;
  servers: AuthorizationServers;
  clock: Pick<Clock, 'now'>;
}

/** Refreshes the tokens of connected accounts, and stores those that vendors rotate. */
export interface TokenRefresher {
  /**
   * @param secrets exchanges the stored value, one at a time
   * @param stored the secrets of the connector, whose connected accounts it returns the tokens of
   */
  of(
    type: ConnectorTypeData,
    connector: Pick<Connector, 'id' | 'organizationId' | 'settings'>,
    secrets: ReplaceableSecrets,
    stored: readonly Pick<StoredSecret, 'id' | 'field' | 'consent'>[],
  ): GrantedTokens;
}

export function createTokenRefresher({ tables, servers, clock }: GrantedTokensOptions): TokenRefresher {
  return {
    of(type, { organizationId, settings }, secrets, stored) {
      const rows = new Map(stored.flatMap((row) => (row.consent ? [[row.field, row] as const] : [])));
      const name = type.oauth?.name ?? type.vendor;
      async function refreshed({ refreshToken }: Grant, field: string): Promise<Grant> {
        if (refreshToken === undefined) throw await ended(field);
        const organization: Pick<Organization, 'id' | 'parentId'> | undefined =
          await tables.organizations.get(organizationId);
        const offer = organization && servers.of(type, organization);
        if (!offer) throw new ConnectorError('oauth_not_configured', notConfigured(name), 'permanent');
        try {
          const server = await offer.server(effectiveConfig(type.config, settings).settings);
          return await server.refresh(refreshToken);
        } catch (error) {
          if (!(error instanceof OAuthProblem)) throw error;
          if (error.code === 'ended') throw await ended(field);
          throw failureOf(error.code, name);
        }
      }

      async function ended(field: string): Promise<ConnectorError> {
        const row = rows.get(field);
        if (row?.consent) await tables.secrets.noteReauth(row.id, row.consent.connectedAt, new Date(clock.now()));
        return new ConnectorError('needs_reauth', needsReauth(name), 'permanent');
      }

      return {
        has: (field) => rows.has(field),

        async get(field, rejected) {
          const secret = secrets.of(field);
          if (!secret) throw new ConnectorError('secret_unreadable', needsReauth(name), 'permanent');
          const grant = grantIn(await secret.read());
          if (isUsable(grant, rejected, clock.now())) return grant.accessToken;
          return secret.exchange(async (value) => {
            // Another pipeline may have refreshed it meanwhile.
            const current = grantIn(value);
            if (isUsable(current, rejected, clock.now())) return { result: current.accessToken };
            const next = await refreshed(current, field);
            return { result: next.accessToken, replacement: sealable(next) };
          });
        },
      };
    },
  };
}

const isUsable = (grant: Grant, rejected: string | undefined, now: number): boolean =>
  isFresh(grant, now) && grant.accessToken !== rejected;

/** Returns tokens that are not stored yet and can't be refreshed, for a connection test. */
export const tokensOf = (grants: ReadonlyMap<string, Grant>): GrantedTokens => ({
  has: (field) => grants.has(field),
  get: (field) => Promise.resolve(grants.get(field)?.accessToken ?? ''),
});

const needsReauth = (name: string): string =>
  `${name} no longer accepts the connected account. Open the connector and connect the account again.`;

const notConfigured = (name: string): string =>
  `The operator has not configured a client for ${name}, so the connected account can't be used.`;

function failureOf(code: OAuthProblemCode, name: string): ConnectorError {
  switch (code) {
    case 'client':
      return new ConnectorError(
        'oauth_client_rejected',
        `${name} does not accept the client that the operator registered.`,
        'permanent',
      );
    case 'unreachable':
      return new ConnectorError('token_refresh_failed', `${name} could not be reached to refresh the token.`, 'retry');
    default:
      return new ConnectorError('token_refresh_failed', `${name} refused to refresh the token.`, 'permanent');
  }
}
