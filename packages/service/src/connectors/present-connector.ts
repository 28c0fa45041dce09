import { z } from '@hono/zod-openapi';
import type { IngestAddress, IngestAddressOf } from './ingest-addresses.js';
import type { Connector, SecretNote } from '../store/store.js';
import type { SecretConsent } from '../store/tables.js';
import { References, referencesTo } from './present-secret.js';
import { NOT_SHARED, ShareDetails } from './share-details.js';

const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });

const ConnectedAccount = z
  .object({
    status: z.enum(['connected', 'needs_reauth']).openapi({
      description:
        '`needs_reauth`: the vendor no longer accepts it, and the customer has to connect it again in the form.',
    }),
    name: z.string().nullable().openapi({ description: 'Name of the account, if the vendor tells it.' }),
    connected_at: Timestamp,
    needs_reauth_at: Timestamp.nullable(),
  })
  .openapi('ConnectedAccount', { description: 'The account that the customer connected instead of a secret.' });

/** A connector in API responses. It shows that a secret is stored, never its value. */
export const ConnectorBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    type: z.string().openapi({ description: '`type_id` of its connector type.' }),
    name: z.string(),
    description: z.string(),
    config: z
      .object({
        settings: z
          .record(z.string(), z.unknown())
          .openapi({ description: 'As they were given. `config.settings` of the type is their JSON Schema.' }),
        secrets: z
          .record(
            z.string(),
            z
              .object({ id: z.string(), name: z.string(), updated_at: Timestamp, account: ConnectedAccount.optional() })
              .openapi('StoredSecret'),
          )
          .openapi({ description: 'The secrets that are stored, by name. No response contains their values.' }),
      })
      .openapi('ConnectorConfig', { description: 'Empty for an output that another organization shares.' }),
    needs_reauth: z.literal(true).optional().openapi({
      description:
        'Present if the customer has to connect an account again. Until then, pipelines fail with `needs_reauth`.',
    }),
    references: References,
    managed_by: z.literal('customer'),
    share_details: ShareDetails,
    created_at: Timestamp,
    updated_at: Timestamp,
    ingest: z
      .object({
        url: z.string().openapi({ description: 'URL that records are sent to.' }),
        token: z.string().optional().openapi({
          description:
            'Token for `Authorization: Bearer <token>`. Returned only to API keys with the permission `input:write`.',
        }),
        host: z.string().optional().openapi({ description: 'Host of this input, for UDP, TCP and TLS.' }),
        port: z.int().optional().openapi({ description: 'Port of this input, for UDP, TCP and TLS.' }),
      })
      .openapi('IngestAddress')
      .optional()
      .openapi({ description: 'Address of an input that receives records. Absent for an input that polls.' }),
    version: z.int().openapi({ description: 'Incremented by each change. The ETag is derived from it.' }),
  })
  .openapi('Connector');

export type ConnectorBody = z.output<typeof ConnectorBody>;

/**
 * Formats a connector for an API response.
 * @param notes metadata of its secrets
 * @param place where records are sent to it; absent if it does not receive records
 */
export function presentConnector(
  connector: Connector,
  notes: readonly SecretNote[],
  place: IngestAddress | undefined,
  shares: ShareDetails = NOT_SHARED,
): ConnectorBody {
  const secrets: ConnectorBody['config']['secrets'] = {};
  for (const { field, id, name, updatedAt, consent } of notes)
    secrets[field] = { id, name, updated_at: updatedAt.toISOString(), ...(consent && { account: accountOf(consent) }) };
  const needsReauth = notes.some(({ consent }) => consent?.needsReauthAt);
  return {
    id: connector.id,
    organization_id: connector.organizationId,
    type: connector.type,
    name: connector.name,
    description: connector.description,
    config: { settings: connector.settings, secrets },
    ...(needsReauth && { needs_reauth: true as const }),
    references: referencesTo(notes, connector.organizationId),
    managed_by: 'customer',
    share_details: shares,
    created_at: connector.createdAt.toISOString(),
    updated_at: connector.updatedAt.toISOString(),
    ...(place && { ingest: place }),
    version: connector.version,
  };
}

const accountOf = ({ account, connectedAt, needsReauthAt }: SecretConsent): z.output<typeof ConnectedAccount> => ({
  status: needsReauthAt === null ? 'connected' : 'needs_reauth',
  name: account,
  connected_at: connectedAt,
  needs_reauth_at: needsReauthAt,
});

/** Formats an output of another organization: only what is needed to choose it. */
export const presentForeign = (connector: Connector, shares: ShareDetails): ConnectorBody =>
  presentConnector({ ...connector, description: '', settings: {} }, [], undefined, shares);

/**
 * Formats connectors for an API response.
 * @param notes metadata of the secrets of all connectors
 */
export function presentConnectors(
  connectors: readonly Connector[],
  notes: readonly SecretNote[],
  placeOf: IngestAddressOf,
  sharesOfOne: (connector: Connector) => ShareDetails,
): ConnectorBody[] {
  const byConnector = new Map<string, SecretNote[]>();
  for (const note of notes) {
    const own = byConnector.get(note.connectorId);
    if (own) own.push(note);
    else byConnector.set(note.connectorId, [note]);
  }
  return connectors.map((connector) => {
    const shares = sharesOfOne(connector);
    return shares.shared_with_me
      ? presentForeign(connector, shares)
      : presentConnector(connector, byConnector.get(connector.id) ?? [], placeOf(connector), shares);
  });
}
