import { randomUUID } from 'node:crypto';
import type { Tables, WriteName } from '../store/store.js';
import type { NewAuditLog } from '../store/audit-logs.js';
import type { FeatureOverride } from '../store/feature-overrides.js';
import type { Author } from './author.js';
import { ChangeSet } from './change-set.js';
import {
  ofAlertRule,
  ofApiKey,
  ofBillingAccount,
  ofBillingMember,
  ofBillingProduct,
  ofBillingRole,
  ofBillingRoleUser,
  ofBillingSubscription,
  ofConnector,
  ofFeatureOverride,
  ofInvitation,
  ofMembership,
  ofOrganization,
  ofPipeline,
  ofQuota,
  ofResourceShare,
  ofRole,
  ofSecret,
  ofSharePolicy,
  ofSsoConnection,
  ofStorageTypeCost,
  ofTransform,
  type Snapshot,
} from './snapshot.js';

/**
 * Runs the writes of a transaction, and appends one row to the audit log for each resource that they
 * change. Both are committed or neither.
 * @param now time of the change
 */
export async function recordWrites<T>(
  tables: Tables,
  author: Author,
  now: Date,
  work: (tables: Tables) => Promise<T>,
): Promise<T> {
  const changes = new ChangeSet();
  const result = await work(recordingTables(tables, changes, author));
  const notes = await tables.secrets.notes(changes.connectorIds);
  await tables.auditLogs.append(
    changes
      .changes(notes)
      .map(({ action, resource, organizationId, old, new: after, formerPipelines }): NewAuditLog => ({
        id: randomUUID(),
        organizationId,
        occurredAt: now,
        requestId: author.requestId,
        action,
        resourceType: resource.type,
        resourceId: resource.id,
        apiKeyId: author.apiKeyId,
        actor: author.actor,
        old,
        new: after,
        pipelineIds: resource.type === 'pipeline' ? [resource.id] : [...formerPipelines],
        ...(isComponent(resource) && { componentId: resource.id }),
      })),
  );
  return result;
}

const isComponent = ({ type }: Snapshot): boolean =>
  ['input', 'output', 'enrichment', 'transform', 'secret'].includes(type);

/** All methods of a table that change resources, so that a new one must be recorded, too. */
type Writes<T> = Pick<T, Extract<keyof T, WriteName>>;

/**
 * Returns tables whose writes are noted in `changes`. Lists every table: a new one is a type error
 * until it is decided whether its changes are recorded.
 */
function recordingTables(tables: Tables, changes: ChangeSet, author: Author): Tables {
  const { organizations, apiKeys, roles, connectors, secrets, organizationSecrets, transforms, pipelines } = tables;
  const { keyValues, alertRules } = tables;
  const { memberships, invitations, ssoConnections, featureOverrides } = tables;
  const { resourceShares, sharePolicies, quotas, storageTypeCosts } = tables;
  const { billingAccounts, billingMembers, billingProducts, billingSubscriptions } = tables;
  const { billingRoles, billingRoleUsers } = tables;
  const notedLock = async <R>(
    row: Promise<R | undefined>,
    snapshotOf: (row: R) => Snapshot,
  ): Promise<R | undefined> => {
    const found = await row;
    if (found !== undefined) changes.locked(snapshotOf(found));
    return found;
  };
  const notedLocks = async <R>(rows: Promise<R[]>, snapshotOf: (row: R) => Snapshot): Promise<R[]> => {
    const found = await rows;
    for (const row of found) changes.locked(snapshotOf(row));
    return found;
  };
  const inserting =
    <R>(table: { insert(row: R): Promise<void> }, snapshotOf: (row: R) => Snapshot) =>
    async (row: R): Promise<void> => {
      await table.insert(row);
      changes.inserted(snapshotOf(row));
    };
  const updating =
    <R>(table: { update(row: R): Promise<void> }, snapshotOf: (row: R) => Snapshot) =>
    async (row: R): Promise<void> => {
      await table.update(row);
      changes.updated(snapshotOf(row));
    };
  const removing =
    (table: { remove(id: string): Promise<void> }) =>
    async (id: string): Promise<void> => {
      changes.removed(id);
      await table.remove(id);
    };
  const removingIn =
    (table: { remove(organizationId: string, id: string): Promise<void> }) =>
    async (organizationId: string, id: string): Promise<void> => {
      changes.removed(id);
      await table.remove(organizationId, id);
    };
  /** A feature of a user belongs to no organization; its change is in the log of the operator's. */
  const logOf = (row: FeatureOverride): string => row.organizationId ?? author.organizationId ?? '';
  const noteSecrets = async (connectorId: string): Promise<void> => {
    if (changes.needsSecrets(connectorId)) changes.secretsBefore(connectorId, await secrets.notes([connectorId]));
  };
  return {
    organizations: {
      ...organizations,
      lock: (id) => notedLock(organizations.lock(id), ofOrganization),
      ...({
        insert: inserting(organizations, ofOrganization),
        async update(id, change, at) {
          const row = await organizations.update(id, change, at);
          if (row) changes.updated(ofOrganization(row));
          return row;
        },
        remove: removing(organizations),
      } satisfies Writes<typeof organizations>),
    },
    apiKeys: {
      ...apiKeys,
      lock: (organizationId, id) => notedLock(apiKeys.lock(organizationId, id), ofApiKey),
      ...({
        insert: inserting(apiKeys, ofApiKey),
        update: updating(apiKeys, ofApiKey),
      } satisfies Writes<typeof apiKeys>),
    },
    roles: {
      ...roles,
      lock: (organizationId, id) => notedLock(roles.lock(organizationId, id), ofRole),
      ...({
        insert: inserting(roles, ofRole),
        update: updating(roles, ofRole),
        remove: removingIn(roles),
      } satisfies Writes<typeof roles>),
    },
    memberships: {
      ...memberships,
      lock: (organizationId, userId) => notedLock(memberships.lock(organizationId, userId), ofMembership),
      ...({
        insert: inserting(memberships, ofMembership),
        update: updating(memberships, ofMembership),
        async remove(row) {
          changes.removed(row.userId);
          await memberships.remove(row);
        },
      } satisfies Writes<typeof memberships>),
    },
    invitations: {
      ...invitations,
      lockOf: (organizationId, email) => notedLock(invitations.lockOf(organizationId, email), ofInvitation),
      lock: (organizationId, id) => notedLock(invitations.lock(organizationId, id), ofInvitation),
      ...({
        insert: inserting(invitations, ofInvitation),
        remove: removingIn(invitations),
      } satisfies Writes<typeof invitations>),
    },
    ssoConnections: {
      ...ssoConnections,
      lock: (organizationId, id) => notedLock(ssoConnections.lock(organizationId, id), ofSsoConnection),
      ...({
        insert: inserting(ssoConnections, ofSsoConnection),
        update: updating(ssoConnections, ofSsoConnection),
        remove: removingIn(ssoConnections),
      } satisfies Writes<typeof ssoConnections>),
    },
    featureOverrides: {
      ...featureOverrides,
      lock: (feature, subject) =>
        notedLock(featureOverrides.lock(feature, subject), (row) => ofFeatureOverride(row, logOf(row))),
      ...({
        async put(row) {
          await featureOverrides.put(row);
          const snapshot = ofFeatureOverride(row, logOf(row));
          if (changes.has(row.id)) changes.updated(snapshot);
          else changes.inserted(snapshot);
        },
        async remove(row) {
          changes.removed(row.id);
          await featureOverrides.remove(row);
        },
      } satisfies Writes<typeof featureOverrides>),
    },
    connectors: {
      ...connectors,
      lock: (organizationId, kind, id) => notedLock(connectors.lock(organizationId, kind, id), ofConnector),
      lockAll: (organizationIds, ids) => notedLocks(connectors.lockAll(organizationIds, ids), ofConnector),
      ...({
        insert: inserting(connectors, ofConnector),
        update: updating(connectors, ofConnector),
        async touch(ids) {
          await connectors.touch(ids);
          changes.touched(ids);
        },
        async remove(id) {
          // Its secrets are deleted with it.
          await noteSecrets(id);
          changes.removed(id);
          await connectors.remove(id);
        },
      } satisfies Writes<typeof connectors>),
    },
    secrets: {
      ...secrets,
      ...({
        async put(rows) {
          for (const { connectorId, field, sealed } of rows) {
            await noteSecrets(connectorId);
            const before = (await secrets.ofConnector(connectorId)).find((each) => each.field === field);
            // A rename keeps the sealed value.
            changes.secretWritten(connectorId, field, !before?.sealed.equals(sealed));
          }
          await secrets.put(rows);
        },
        // The new secret of the organization is recorded; the connector has the same value as before.
        refer: (reference) => secrets.refer(reference),
        async remove(connectorId, ids) {
          if (ids.length > 0) await noteSecrets(connectorId);
          await secrets.remove(connectorId, ids);
        },
      } satisfies Writes<typeof secrets>),
    },
    organizationSecrets: {
      ...organizationSecrets,
      lock: (organizationId, id) => notedLock(organizationSecrets.lock(organizationId, id), ofSecret),
      lockUsable: (organizationId, id) => notedLock(organizationSecrets.lockUsable(organizationId, id), ofSecret),
      ...({
        async insert(row) {
          await organizationSecrets.insert(row);
          changes.inserted(ofSecret(row, true));
        },
        async update(row, isRotated) {
          await organizationSecrets.update(row, isRotated);
          changes.updated(ofSecret(row, isRotated));
        },
        remove: removing(organizationSecrets),
      } satisfies Writes<typeof organizationSecrets>),
    },
    transforms: {
      ...transforms,
      lock: (organizationId, id) => notedLock(transforms.lock(organizationId, id), ofTransform),
      ...({
        insert: inserting(transforms, ofTransform),
        update: updating(transforms, ofTransform),
        async touch(ids) {
          await transforms.touch(ids);
          changes.touched(ids);
        },
        remove: removing(transforms),
      } satisfies Writes<typeof transforms>),
    },
    pipelines: {
      ...pipelines,
      lock: (organizationId, id) => notedLock(pipelines.lock(organizationId, id), ofPipeline),
      ...({
        insert: inserting(pipelines, ofPipeline),
        async update(row, before) {
          await pipelines.update(row, before);
          changes.updated(ofPipeline(row));
        },
        remove: removing(pipelines),
      } satisfies Writes<typeof pipelines>),
    },
    keyValues,
    alertRules: {
      ...alertRules,
      lock: (organizationId, id) => notedLock(alertRules.lock(organizationId, id), ofAlertRule),
      ...({
        insert: inserting(alertRules, ofAlertRule),
        update: updating(alertRules, ofAlertRule),
        remove: removing(alertRules),
      } satisfies Writes<typeof alertRules>),
    },
    resourceShares: {
      ...resourceShares,
      ...({
        async insert(rows) {
          await resourceShares.insert(rows);
          for (const row of rows) changes.inserted(ofResourceShare(row));
        },
        async remove(rows) {
          // The lock on the resource covers its shares.
          for (const row of rows) {
            changes.locked(ofResourceShare(row));
            changes.removed(row.id);
          }
          await resourceShares.remove(rows);
        },
      } satisfies Writes<typeof resourceShares>),
    },
    sharePolicies: {
      ...sharePolicies,
      ...({
        insert: inserting(sharePolicies, ofSharePolicy),
        async remove(row) {
          changes.locked(ofSharePolicy(row));
          changes.removed(row.id);
          await sharePolicies.remove(row);
        },
      } satisfies Writes<typeof sharePolicies>),
    },
    billingAccounts: {
      ...billingAccounts,
      lock: (ownerId, id) => notedLock(billingAccounts.lock(ownerId, id), ofBillingAccount),
      ...({
        insert: inserting(billingAccounts, ofBillingAccount),
        update: updating(billingAccounts, ofBillingAccount),
      } satisfies Writes<typeof billingAccounts>),
    },
    billingMembers: {
      ...billingMembers,
      lock: (organizationId) => notedLock(billingMembers.lock(organizationId), ofBillingMember),
      ...({
        insert: inserting(billingMembers, ofBillingMember),
        update: updating(billingMembers, ofBillingMember),
      } satisfies Writes<typeof billingMembers>),
    },
    billingProducts: {
      ...billingProducts,
      lock: (ownerId, id) => notedLock(billingProducts.lock(ownerId, id), ofBillingProduct),
      lockAll: (ownerId) => notedLocks(billingProducts.lockAll(ownerId), ofBillingProduct),
      ...({
        insert: inserting(billingProducts, ofBillingProduct),
        update: updating(billingProducts, ofBillingProduct),
        remove: removing(billingProducts),
      } satisfies Writes<typeof billingProducts>),
    },
    billingSubscriptions: {
      ...billingSubscriptions,
      lockAll: (accountId) => notedLocks(billingSubscriptions.lockAll(accountId), ofBillingSubscription),
      ...({
        insert: inserting(billingSubscriptions, ofBillingSubscription),
        update: updating(billingSubscriptions, ofBillingSubscription),
        remove: removing(billingSubscriptions),
      } satisfies Writes<typeof billingSubscriptions>),
    },
    billingRoles: {
      ...billingRoles,
      lock: (accountId, id) => notedLock(billingRoles.lock(accountId, id), ofBillingRole),
      ...({
        insert: inserting(billingRoles, ofBillingRole),
        update: updating(billingRoles, ofBillingRole),
        remove: removing(billingRoles),
      } satisfies Writes<typeof billingRoles>),
    },
    billingRoleUsers: {
      ...billingRoleUsers,
      ...({
        insert: inserting(billingRoleUsers, ofBillingRoleUser),
        async remove(row) {
          // The lock on the role covers its users.
          changes.locked(ofBillingRoleUser(row));
          changes.removed(row.id);
          await billingRoleUsers.remove(row);
        },
      } satisfies Writes<typeof billingRoleUsers>),
    },
    quotas: {
      ...quotas,
      lock: (ownerId, id) => notedLock(quotas.lock(ownerId, id), ofQuota),
      ...({
        insert: inserting(quotas, ofQuota),
        update: updating(quotas, ofQuota),
        remove: removing(quotas),
      } satisfies Writes<typeof quotas>),
    },
    storageTypeCosts: {
      ...storageTypeCosts,
      lockAll: (organizationId) => notedLocks(storageTypeCosts.lockAll(organizationId), ofStorageTypeCost),
      ...({
        insert: inserting(storageTypeCosts, ofStorageTypeCost),
        update: updating(storageTypeCosts, ofStorageTypeCost),
        remove: removing(storageTypeCosts),
      } satisfies Writes<typeof storageTypeCosts>),
    },
    shareViews: tables.shareViews,
    // These hold what the service needs for itself, not what callers configure. What a user may do is
    // in its memberships.
    users: tables.users,
    signIns: tables.signIns,
    consents: tables.consents,
    dataKeys: tables.dataKeys,
    pipelineCounts: tables.pipelineCounts,
    edgeSchemas: tables.edgeSchemas,
    alerts: tables.alerts,
    alertEvents: tables.alertEvents,
    usage: tables.usage,
    auditLogs: tables.auditLogs,
    idempotency: tables.idempotency,
  };
}
