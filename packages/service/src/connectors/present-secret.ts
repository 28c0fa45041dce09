import { z } from '@hono/zod-openapi';
import type { ListedSecret, OrganizationSecret, SecretUse } from '../store/store.js';
import type { ListedDestination } from '../store/tables.js';
import { NOT_SHARED, ShareDetails } from './share-details.js';

const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });

/** A secret in responses to writes. Its value is in no response. */
export const SecretBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    description: z.string(),
    share_details: ShareDetails,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('Secret');

const ComponentReference = z
  .object({
    id: z.string(),
    kind: z.enum(['input', 'output', 'transform']),
    type: z.string().openapi({ description: '`type_id` of its connector type; `transform` for a transform.' }),
    name: z.string(),
  })
  .openapi('ComponentReference');

const uses = z.array(ComponentReference);

/** The secrets that a component uses, in responses. */
export const References = z
  .object({
    secrets: z.array(
      z
        .object({
          id: z.string(),
          name: z.string(),
          organization_id: z.string(),
          shared: z.boolean().openapi({ description: 'Whether another organization owns and shares it.' }),
        })
        .openapi('SecretReference'),
    ),
  })
  .openapi('SecretReferences', { description: 'The secrets that it uses.' });

/** Formats the secrets that a component of an organization uses. */
export const referencesTo = (
  secrets: readonly Pick<OrganizationSecret, 'id' | 'name' | 'organizationId'>[],
  ownerId: string,
): z.output<typeof References> => ({
  secrets: secrets.map(({ id, name, organizationId }) => ({
    id,
    name,
    organization_id: organizationId,
    shared: organizationId !== ownerId,
  })),
});

/** A secret in lists and reads. */
export const SecretWithUses = SecretBody.extend({
  inputs: uses.openapi({ description: 'The inputs that use it, oldest first.' }),
  outputs: uses.openapi({ description: 'The outputs that use it, oldest first.' }),
  transforms: uses.openapi({ description: 'The transforms that use it, oldest first.' }),
}).openapi('SecretWithUses');

export const DestinationBody = z
  .object({
    kind: z.enum(['input', 'output', 'transform']),
    type: z.string().openapi({ description: '`type_id` of a connector type; `transform` for all transforms.' }),
    settings: z.record(z.string(), z.unknown()).openapi({
      description: 'The settings that address it and protect the connection. Absent ones have their defaults.',
    }),
  })
  .openapi('SecretDestination');

/** A secret in full. */
export const FullSecret = SecretWithUses.extend({
  destinations: z
    .array(DestinationBody)
    .optional()
    .openapi({ description: 'Where it may be sent. Absent for a secret that another organization shares.' }),
  restricted: z.boolean().openapi({
    description:
      'Whether adding a destination requires the value. If not, a connector that refers to it adds its destination.',
  }),
}).openapi('FullSecret');

/** Formats a secret for an API response. */
export const presentSecret = (
  secret: Omit<ListedSecret, 'connectorId'>,
  shares: ShareDetails = NOT_SHARED,
): z.output<typeof SecretBody> => ({
  id: secret.id,
  organization_id: secret.organizationId,
  name: secret.name,
  description: secret.description,
  share_details: shares,
  created_at: secret.createdAt.toISOString(),
  updated_at: secret.updatedAt.toISOString(),
});

/** Formats the components that use a secret, by kind. */
export function presentUses(uses: readonly SecretUse[], secretId: string) {
  const own = uses.filter((use) => use.secretId === secretId);
  const of = (wanted: SecretUse['kind']) => {
    const found = new Map(own.filter(({ kind }) => kind === wanted).map((use) => [use.id, use]));
    return Array.from(found.values(), ({ id, kind, type, name }) => ({ id, kind, type, name }));
  };
  return { inputs: of('input'), outputs: of('output'), transforms: of('transform') };
}

/** Formats a secret with its destinations. */
export const presentFull = (
  secret: Omit<ListedSecret, 'connectorId'> & Pick<OrganizationSecret, 'destinations' | 'restricted'>,
  uses: readonly SecretUse[],
  shares: ShareDetails,
): z.output<typeof FullSecret> => ({
  ...presentSecret(secret, shares),
  ...presentUses(uses, secret.id),
  // They are addresses of the owner, and perhaps of its other teams.
  ...(!shares.shared_with_me && { destinations: secret.destinations.map(presentDestination) }),
  restricted: secret.restricted,
});

const presentDestination = ({ kind, type, settings }: ListedDestination): z.output<typeof DestinationBody> => ({
  kind,
  type,
  settings,
});
