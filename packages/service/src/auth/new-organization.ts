import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.js';
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

/** Stores an organization together with the data key for its secrets. */
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
  await tables.organizations.insert(organization);
  await tables.dataKeys.insert(vault.issueKey(organization.id));
  return organization;
}
