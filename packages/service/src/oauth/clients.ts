import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { z } from 'zod';
import type { Organization } from '../store/store.js';

const address = z.url({ protocol: /^https?$/ });

const OAuthClientSettings = z
  .strictObject({
    provider: z.string().optional(),
    type_id: z.string().optional(),
    client_id: z.string().min(1).max(1_000),
    client_secret: z.string().min(1).max(4_000),
    organizations: z.array(z.string()).min(1).optional(),
    authorization_url: address.optional(),
    token_url: address.optional(),
  })
  .refine(({ provider, type_id: type }) => (provider === undefined) !== (type === undefined), {
    error: 'needs either "provider" or "type_id"',
  });

/** A client that the operator registered at a vendor. */
export type OAuthClientSettings = z.output<typeof OAuthClientSettings>;

/** The client to use for a connector type and an organization. */
export interface OAuthClient extends Pick<
  OAuthClientSettings,
  'client_id' | 'client_secret' | 'authorization_url' | 'token_url'
> {
  /** Last part but one of the redirect URI: the type, or the provider if its types share the client. */
  redirect: string;
}

export interface OAuthClients {
  /** Returns whether any organization has a client for the type. */
  has(type: ConnectorTypeData): boolean;
  of(type: ConnectorTypeData, organization: Pick<Organization, 'id' | 'parentId'>): OAuthClient | undefined;
}

/**
 * Parses the file of `OAUTH_CLIENTS_FILE`.
 * @throws Error that says what to change, without a secret
 */
export function parseOAuthClients(text: string, types: readonly ConnectorTypeData[]): OAuthClientSettings[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('OAUTH_CLIENTS_FILE must be JSON: { "clients": [...] }');
  }
  const { success, data, error } = z.strictObject({ clients: z.array(OAuthClientSettings) }).safeParse(json);
  if (!success) {
    const problems = error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
    throw new Error(`OAUTH_CLIENTS_FILE is not valid:\n${problems.join('\n')}`);
  }
  const known = types.flatMap(({ type_id: id, oauth }) => (oauth ? [id, oauth.provider] : []));
  for (const { provider, type_id: typeId } of data.clients) {
    const name = provider ?? typeId ?? '';
    if (!known.includes(name))
      throw new Error(`OAUTH_CLIENTS_FILE names ${name}, at which no account can be connected.`);
  }
  return data.clients;
}

const rank = ({ type_id: type, organizations }: OAuthClientSettings): number =>
  (type === undefined ? 0 : 2) + (organizations ? 1 : 0);

/** The client of a type wins over that of its provider, and one for the organization over one for all. */
export function createOAuthClients(all: readonly OAuthClientSettings[]): OAuthClients {
  const clientsOf = ({ type_id: typeId, oauth }: ConnectorTypeData): OAuthClientSettings[] =>
    all.filter(({ type_id: type, provider }) => oauth && (type === typeId || provider === oauth.provider));
  return {
    has: (type) => clientsOf(type).length > 0,

    of(type, { id, parentId }) {
      const isFor = (organizations: readonly string[]): boolean =>
        organizations.includes(id) || (parentId !== null && organizations.includes(parentId));
      const [best] = clientsOf(type)
        .filter(({ organizations }) => !organizations || isFor(organizations))
        .sort((one, other) => rank(other) - rank(one));
      return best && { ...best, redirect: best.type_id ?? best.provider ?? '' };
    },
  };
}
