import type { ConnectorTypeData, OAuthDefinition } from '@connector-frame/catalog/types';
import type { Egress } from '@connector-frame/engine/egress';
import type { Organization } from '../store/store.js';
import type { AuthorizationServer } from './authorization-server.js';
import type { OAuthClient, OAuthClients } from './clients.js';

type OrganizationOf = Pick<Organization, 'id' | 'parentId'>;

/** A type whose account can be connected, for an organization that a client is configured for. */
export interface Offer {
  oauth: OAuthDefinition;
  client: OAuthClient;
  /** @param settings with their defaults; some are part of the vendor's address */
  server(settings: Readonly<Record<string, unknown>>): Promise<AuthorizationServer>;
}

/** The authorization servers of vendors, with the clients that the operator registered there. */
export interface AuthorizationServers {
  of(type: ConnectorTypeData, organization: OrganizationOf): Offer | undefined;
}

export interface AuthorizationServersOptions {
  clients: OAuthClients;
  egress: Egress;
  now: () => number;
  /** Base URL of the service. Default: none, where tokens are only refreshed. */
  publicUrl?: string;
}

export function createAuthorizationServers({
  clients,
  egress,
  now,
  publicUrl = '',
}: AuthorizationServersOptions): AuthorizationServers {
  return {
    of(type, organization) {
      const { oauth } = type;
      const client = clients.of(type, organization);
      if (!oauth || !client) return undefined;
      const redirectUri = `${publicUrl}/v1/oauth/${client.redirect}/callback`;
      return {
        oauth,
        client,
        async server(settings) {
          const { createAuthorizationServer } = await import('./authorization-server.js');
          return createAuthorizationServer({ definition: oauth, client, settings, redirectUri, egress, now });
        },
      };
    },
  };
}
