import { randomUUID } from 'node:crypto';
import { ApiError, forbidden, invalidRequest, notFound } from '../api-error.js';
import type { Resource, ResourceShare } from '../store/resource-shares.js';
import type { Organization, ReadTables, Tables } from '../store/store.js';

/** Who gets and who loses a resource. */
export interface ShareChanges {
  /** Ids of teams. */
  share: readonly string[];
  /** Share with all teams there are. */
  shareWithAll: boolean;
  /** Ids of teams. */
  revoke: readonly string[];
  /** Take it from all teams that do not use it. */
  revokeUnused: boolean;
  /** Whether new teams get it. Absent: as before. */
  shareWithNew: boolean | undefined;
}

export interface ChangedShares {
  created: ResourceShare[];
  revoked: ResourceShare[];
  /** Shares that were not revoked, because the team uses the resource. */
  skipped: ResourceShare[];
  hasPolicy: boolean;
}

/**
 * Changes who can use an output or a secret. Call it in a transaction.
 *
 * @param changes `nobody`: revoke all shares, also those of new teams
 * @throws ApiError 400, 403, 404, or 409 if a team that would lose the resource uses it
 */
export async function changeShares(
  owner: Organization,
  resource: Resource,
  changes: ShareChanges | 'nobody',
  tables: Tables,
  now: Date,
): Promise<ChangedShares> {
  // The creation of a team locks its parent, too: it is among the teams, or gets what new ones get.
  await tables.organizations.lock(owner.id);
  await lockResource(owner.id, resource, tables);
  if (owner.parentId !== null) throw forbidden('This organization is a team itself; teams have no teams.');
  const shares = await tables.resourceShares.of(resource);
  const users = await tables.shareViews.users(resource, owner.id);
  const wanted = changes === 'nobody' ? { ...NOTHING, revoke: shares.map(targetOf), shareWithNew: false } : changes;
  if (changes !== 'nobody') requireTeams(changes, await tables.organizations.teamIds(owner.id));

  const named = new Set(wanted.revoke);
  const inUse = shares.filter((row) => named.has(targetOf(row)) && users.has(targetOf(row)));
  if (inUse.length > 0) throw await usedBy(inUse, resource, owner.id, tables);

  const targets = new Set(wanted.shareWithAll ? await tables.organizations.teamIds(owner.id) : wanted.share);
  const has = new Set(shares.map(targetOf));
  const unused = shares.filter((row) => !users.has(targetOf(row)));
  const revoked = shares.filter((row) => named.has(targetOf(row)) || (wanted.revokeUnused && unused.includes(row)));
  const result: ChangedShares = {
    created: [...targets]
      .filter((id) => !has.has(id) && !named.has(id))
      .map((id) => shareOf(resource, owner.id, id, now)),
    revoked: revoked.map(withoutName),
    skipped: wanted.revokeUnused ? shares.filter((row) => users.has(targetOf(row))).map(withoutName) : [],
    hasPolicy: await changePolicy(owner.id, resource, wanted.shareWithNew, tables, now),
  };
  await tables.resourceShares.remove(result.revoked);
  await tables.resourceShares.insert(result.created);
  return result;
}

const NOTHING: ShareChanges = {
  share: [],
  shareWithAll: false,
  revoke: [],
  revokeUnused: false,
  shareWithNew: undefined,
};

const targetOf = (share: ResourceShare): string => share.targetOrganizationId;
const withoutName = ({
  id,
  ownerOrganizationId,
  targetOrganizationId,
  connectorId,
  secretId,
  createdAt,
}: ResourceShare): ResourceShare => ({
  id,
  ownerOrganizationId,
  targetOrganizationId,
  connectorId,
  secretId,
  createdAt,
});

const columnsOf = ({ type, id }: Resource) => ({
  connectorId: type === 'component' ? id : null,
  secretId: type === 'secret' ? id : null,
});

const shareOf = (resource: Resource, ownerOrganizationId: string, targetOrganizationId: string, createdAt: Date) => ({
  id: randomUUID(),
  ownerOrganizationId,
  targetOrganizationId,
  ...columnsOf(resource),
  createdAt,
});

/** Locks an output or a secret of the organization, so that nobody begins to use it meanwhile. */
async function lockResource(organizationId: string, { type, id }: Resource, tables: Tables): Promise<void> {
  const found =
    type === 'component'
      ? await tables.connectors.lock(organizationId, 'output', id)
      : await tables.organizationSecrets.lock(organizationId, id);
  if (!found) await requireResource(tables, organizationId, { type, id });
}

/**
 * Explains why a resource can't be shared.
 * @throws ApiError 400 for what can't be shared, otherwise 404
 */
export async function requireResource(
  tables: Pick<ReadTables, 'connectors' | 'secrets' | 'transforms'>,
  organizationId: string,
  { type, id }: Resource,
): Promise<never> {
  if (type === 'secret' && (await tables.secrets.get(organizationId, id)))
    throw invalidRequest('This secret belongs to one connector. Create one with POST /v2/{org}/secrets to share it.');
  if (
    type === 'component' &&
    ((await tables.connectors.get(organizationId, 'input', id)) || (await tables.transforms.get(organizationId, id)))
  )
    throw invalidRequest('Only outputs can be shared.');
  throw notFound();
}

/**
 * Requires that all ids are those of teams, and that the changes don't contradict each other.
 * @throws ApiError 400
 */
function requireTeams({ share, shareWithAll, revoke, revokeUnused }: ShareChanges, teamIds: readonly string[]): void {
  const teams = new Set(teamIds);
  const issuesIn = (field: string, ids: readonly string[]) =>
    ids.flatMap((id, index) => (teams.has(id) ? [] : [{ path: `/${field}/${index}`, code: 'unknown' }]));
  const issues = [...issuesIn('share_organization_ids', share), ...issuesIn('revoke_organization_ids', revoke)];
  if (issues.length > 0)
    throw invalidRequest('Resources are shared with the teams of the organization, and with nobody else.', { issues });
  const both = share.filter((id) => revoke.includes(id));
  if (both.length > 0 || (shareWithAll && revokeUnused))
    throw invalidRequest('A team can either get a resource or lose it.');
}

async function changePolicy(
  ownerOrganizationId: string,
  resource: Resource,
  isWanted: boolean | undefined,
  { sharePolicies }: Tables,
  createdAt: Date,
): Promise<boolean> {
  const policy = await sharePolicies.get(resource);
  if (policy && isWanted === false) await sharePolicies.remove(policy);
  if (!policy && isWanted === true)
    await sharePolicies.insert({ id: randomUUID(), ownerOrganizationId, ...columnsOf(resource), createdAt });
  return isWanted ?? policy !== undefined;
}

/** An error message needs only a few names. */
const MOST_NAMED = 20;

async function usedBy(
  inUse: readonly (ResourceShare & { targetName: string })[],
  resource: Resource,
  ownerId: string,
  { shareViews }: Tables,
): Promise<ApiError> {
  const teams = new Map(inUse.map((row) => [targetOf(row), row.targetName]));
  const page = { limit: MOST_NAMED, offset: 0 };
  const { rows } = await shareViews.uses(resource, ownerId, page, [...teams.keys()].slice(0, MOST_NAMED));
  return new ApiError(409, 'conflict', 'Teams still use this resource. It was not taken from any team.', {
    details: {
      organizations: Array.from(teams, ([id, name]) => ({ id, name })).slice(0, MOST_NAMED),
      users: rows.map(({ id, name, organizationId }) => ({ id, name, organization_id: organizationId })),
      total: teams.size,
    },
  });
}
