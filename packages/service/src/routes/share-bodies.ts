import { z } from '@hono/zod-openapi';
import { CONNECTOR_KINDS, type Catalog } from '@connector-frame/catalog';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import type { ResourceShare } from '../store/resource-shares.js';
import type { ResourceUse, SharedResource } from '../store/share-views.js';
import { Id } from './schemas.js';
import type { ShareChanges } from '../sharing/change-shares.js';

const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });
export const ResourceType = z.enum(['component', 'secret']).openapi({ description: '`component`: an output.' });

const share = {
  id: z.string(),
  resource_type: ResourceType,
  resource_id: z.string(),
  owner_organization_id: z.string(),
  target_organization_id: z.string().openapi({ description: 'The team.' }),
  created_at: Timestamp,
};
export const Policy = z.boolean().openapi({ description: 'Whether teams that are created get it.' });
const ShareBody = z.object(share).openapi('ResourceShare');
export const ShareWithUsage = z
  .object({
    ...share,
    target_organization_name: z.string(),
    in_use: z.boolean().openapi({
      description: 'Whether the team has the output in a pipeline, or refers to the secret in a connector.',
    }),
  })
  .openapi('ResourceShareWithUsage');
export const ChangeSet = z
  .object({
    created: z.array(ShareBody),
    revoked: z.array(ShareBody),
    skipped_in_use: z.array(ShareBody).openapi({ description: 'Kept by `revoke_all_not_in_use`.' }),
    share_with_all_new_children: Policy,
  })
  .openapi('ResourceShareChangeSet');

const Metadata = z
  .object({
    type_id: z.string(),
    name: z.string(),
    description: z.string(),
    category: z.string(),
    in_beta: z.boolean(),
  })
  .openapi('ResourceMetadata', { description: 'The type of the connector, as in the catalog.' });
export const Shared = z
  .object({
    resource_type: ResourceType,
    resource_id: z.string(),
    name: z.string(),
    description: z.string(),
    component_type: z.literal('output').optional().openapi({ description: 'Absent for a secret.' }),
    sub_type: z.string().optional().openapi({ description: '`type_id` of the output.' }),
    resource_metadata: Metadata.optional(),
    explicit_target_count: z.int().openapi({ description: 'Number of teams that it is shared with.' }),
    last_shared_at: Timestamp.optional(),
    share_with_all_new_children: Policy,
  })
  .openapi('SharedResource');
export const Target = z
  .object({
    organization_id: z.string(),
    name: z.string(),
    shared: z.boolean(),
    shared_at: Timestamp.optional(),
    in_use: z.boolean(),
  })
  .openapi('ResourceShareTarget');
export const Usage = z
  .object({
    resource_type: z.enum(['pipeline', 'component']).openapi({
      description: 'A pipeline uses an output, a component a secret.',
    }),
    resource_id: z.string(),
    name: z.string(),
    organization_id: z.string(),
    organization_name: z.string(),
    component_type: z.enum(CONNECTOR_KINDS).optional().openapi({ description: 'Absent for a pipeline.' }),
    sub_type: z.string().optional().openapi({ description: '`type_id` of the component.' }),
    resource_metadata: Metadata.optional(),
  })
  .openapi('ResourceUsage');

const Ids = z.array(Id).max(1_000).default([]);
export const Changes = z
  .object({
    share_organization_ids: Ids.openapi({
      description: 'Teams to share with. Those that have it already are ignored.',
    }),
    all_current_children: z.boolean().default(false).openapi({
      description: 'Share with all teams that exist. `share_with_all_new_children` is for later ones.',
    }),
    revoke_organization_ids: Ids.openapi({ description: 'Teams to take it from. 409 if one of them uses it.' }),
    revoke_all_not_in_use: z.boolean().default(false).openapi({
      description: 'Take it from all teams that do not use it; the others are in `skipped_in_use`.',
    }),
    share_with_all_new_children: z.boolean().optional().openapi({ description: 'Absent: unchanged.' }),
  })
  .openapi('ChangeResourceShares', { example: { all_current_children: true, share_with_all_new_children: true } });

export const changesIn = (body: z.output<typeof Changes>): ShareChanges => ({
  share: body.share_organization_ids,
  shareWithAll: body.all_current_children,
  revoke: body.revoke_organization_ids,
  revokeUnused: body.revoke_all_not_in_use,
  shareWithNew: body.share_with_all_new_children,
});

export const present = (row: ResourceShare): z.output<typeof ShareBody> => ({
  id: row.id,
  resource_type: row.connectorId === null ? 'secret' : 'component',
  resource_id: row.connectorId ?? row.secretId ?? '',
  owner_organization_id: row.ownerOrganizationId,
  target_organization_id: row.targetOrganizationId,
  created_at: row.createdAt.toISOString(),
});

export function presentShared(row: SharedResource, catalog: Catalog): z.output<typeof Shared> {
  const { resource, name, description, connectorType, targets, lastSharedAt, hasPolicy } = row;
  return {
    resource_type: resource.type,
    resource_id: resource.id,
    name,
    description,
    ...(connectorType !== null && {
      component_type: 'output',
      sub_type: connectorType,
      ...metadataOf('output', connectorType, catalog),
    }),
    explicit_target_count: targets,
    ...(lastSharedAt && { last_shared_at: lastSharedAt.toISOString() }),
    share_with_all_new_children: hasPolicy,
  };
}

export const presentUsage = (row: ResourceUse, catalog: Catalog): z.output<typeof Usage> => ({
  resource_type: row.connector ? 'component' : 'pipeline',
  resource_id: row.id,
  name: row.name,
  organization_id: row.organizationId,
  organization_name: row.organizationName,
  ...(row.connector && {
    component_type: row.connector.kind,
    sub_type: row.connector.type,
    ...metadataOf(row.connector.kind, row.connector.type, catalog),
  }),
});

function metadataOf(
  kind: ConnectorKind,
  typeId: string,
  catalog: Catalog,
): { resource_metadata?: z.output<typeof Metadata> } {
  const type = catalog.get(kind, typeId);
  if (!type) return {};
  const { name, description, category, in_beta = false } = type;
  return { resource_metadata: { type_id: typeId, name, description, category, in_beta } };
}
