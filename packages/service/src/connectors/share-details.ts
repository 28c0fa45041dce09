import { z } from '@hono/zod-openapi';
import type { Resource } from '../store/resource-shares.js';
import type { Organization, ReadTables } from '../store/store.js';

/** Who else can use a connector or a secret, in API responses. */
export const ShareDetails = z
  .object({
    shared_with_me: z.boolean().openapi({ description: 'Whether another organization owns and shares it.' }),
    shared_with_children: z.boolean().openapi({ description: 'Whether it is shared with teams.' }),
    owner_organization_id: z.string().optional().openapi({ description: 'With `shared_with_me`.' }),
    owner_organization_name: z.string().optional().openapi({ description: 'With `shared_with_me`.' }),
  })
  .openapi('ShareDetails');

export type ShareDetails = z.output<typeof ShareDetails>;

/** Of what only its organization can use. */
export const NOT_SHARED: ShareDetails = { shared_with_me: false, shared_with_children: false };

/** A connector or a secret, of any organization. */
interface Owned {
  id: string;
  organizationId: string;
}

/**
 * Returns a function for the share details of resources that an organization owns or can use.
 * @param rows the resources that the function will be called for
 */
export async function sharesOf(
  { resourceShares, organizations }: Pick<ReadTables, 'resourceShares' | 'organizations'>,
  { id: organizationId, parentId }: Pick<Organization, 'id' | 'parentId'>,
  type: Resource['type'],
  rows: readonly Owned[],
): Promise<(row: Owned) => ShareDetails> {
  const isOwn = (row: Owned): boolean => row.organizationId === organizationId;
  // A team has no teams that it could share with.
  const given =
    parentId === null
      ? await resourceShares.sharedAmong(
          type,
          rows.filter(isOwn).map(({ id }) => id),
        )
      : undefined;
  const owners = await organizations.names([
    ...new Set(rows.filter((row) => !isOwn(row)).map((row) => row.organizationId)),
  ]);
  return (row) =>
    isOwn(row)
      ? { ...NOT_SHARED, shared_with_children: given?.has(row.id) ?? false }
      : {
          shared_with_me: true,
          shared_with_children: false,
          owner_organization_id: row.organizationId,
          owner_organization_name: owners.get(row.organizationId) ?? '',
        };
}
