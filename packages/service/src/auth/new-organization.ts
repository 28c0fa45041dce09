import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { SharePolicy } from '../store/resource-shares.js';
import type { Vault } from '../secrets/vault.js';
import type { Organization, Tables } from '../store/store.js';

export interface OrganizationParams {
  name: string;
  /** If absent, the organization is a parent organization. */
  parentId?: string;
  description?: string;
  friendlyName?: string;
  allowedOrigins?: readonly string[];
}

/**
 * Stores an organization together with the data key for its secrets, and shares with a team what its
 * parent shares with all new ones.
 */
export async function newOrganization(
  params: OrganizationParams,
  { tables, vault, clock }: { tables: Tables; vault: Vault; clock: Clock },
): Promise<Organization> {
  const now = new Date(clock.now());
  const organization: Organization = {
    id: randomUUID(),
    parentId: params.parentId ?? null,
    name: params.name,
    description: params.description ?? '',
    friendlyName: params.friendlyName ?? '',
    allowedOrigins: [...new Set(params.allowedOrigins)],
    createdAt: now,
    updatedAt: now,
  };
  const { parentId } = organization;
  // The lock keeps the list of teams and what new ones get from changing at the same time.
  if (parentId !== null) await tables.organizations.lock(parentId);
  await tables.organizations.insert(organization);
  await tables.dataKeys.insert(vault.issueKey(organization.id));
  if (parentId !== null) await shareWithNew(organization.id, await tables.sharePolicies.ofOwner(parentId), tables, now);
  return organization;
}

const shareWithNew = (
  teamId: string,
  policies: readonly SharePolicy[],
  { resourceShares }: Tables,
  now: Date,
): Promise<void> =>
  resourceShares.insert(
    policies.map(({ ownerOrganizationId, connectorId, secretId }) => ({
      id: randomUUID(),
      ownerOrganizationId,
      targetOrganizationId: teamId,
      connectorId,
      secretId,
      createdAt: now,
    })),
  );
