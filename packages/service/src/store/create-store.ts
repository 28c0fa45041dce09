import { sql } from 'drizzle-orm';
import { createAlertRules } from './alert-rules.js';
import { createAlertEvents, createAlerts } from './alerts.js';
import { createApiKeys } from './api-keys.js';
import { createAuditLogs } from './audit-logs.js';
import { createBillingAccounts, createBillingMembers, createBillingSubscriptions } from './billing-accounts.js';
import { createBillingProducts } from './billing-products.js';
import { createBillingRoles, createBillingRoleUsers } from './billing-roles.js';
import { createConnectors } from './connectors.js';
import { createConsents } from './consents.js';
import { createDataKeys } from './data-keys.js';
import type { Database, Queries } from './database.js';
import { createEdgeSchemas } from './edge-schemas.js';
import { createFeatureOverrides } from './feature-overrides.js';
import { createIdempotencyKeys } from './idempotency-keys.js';
import { createInvitations } from './invitations.js';
import { createMemberships } from './memberships.js';
import { createKeyValues } from './key-values.js';
import { locksOf } from './locks.js';
import { createOrganizationSecrets } from './organization-secrets.js';
import { createOrganizations } from './organizations.js';
import { createPipelineCounts } from './pipeline-counts.js';
import { createPipelines } from './pipelines.js';
import { createQuotas } from './quotas.js';
import { createResourceShares, createSharePolicies } from './resource-shares.js';
import { createRoles } from './roles.js';
import { createSecrets } from './secrets.js';
import { createShareViews } from './share-views.js';
import { createSignIns } from './sign-ins.js';
import { createSsoConnections } from './sso-connections.js';
import { createStorageTypeCosts } from './storage-type-costs.js';
import type { Store, Tables } from './store.js';
import { createTransforms } from './transforms.js';
import { createUsage } from './usage.js';
import { createUsers } from './users.js';

/** Creates the store on either database. The schema must be up to date (`migrate`). */
export function createStore(database: Database): Store {
  const { queries } = database;
  return {
    ...tables(queries),
    transaction: (work) => database.transaction((tx) => work(tables(tx))),
    exclusive: (name, work) =>
      database.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${name}))`);
        return work(tables(tx));
      }),
    locks: locksOf(database),
    async schemaVersion() {
      const [row] = await database.script((run) => run('select max(version) as version from schema_migrations'));
      return Number(row?.['version']);
    },
    close: () => database.close(),
  };
}

function tables(queries: Queries): Tables {
  return {
    organizations: createOrganizations(queries),
    apiKeys: createApiKeys(queries),
    roles: createRoles(queries),
    users: createUsers(queries),
    memberships: createMemberships(queries),
    invitations: createInvitations(queries),
    ssoConnections: createSsoConnections(queries),
    signIns: createSignIns(queries),
    featureOverrides: createFeatureOverrides(queries),
    connectors: createConnectors(queries),
    consents: createConsents(queries),
    secrets: createSecrets(queries),
    organizationSecrets: createOrganizationSecrets(queries),
    resourceShares: createResourceShares(queries),
    sharePolicies: createSharePolicies(queries),
    shareViews: createShareViews(queries),
    dataKeys: createDataKeys(queries),
    transforms: createTransforms(queries),
    pipelines: createPipelines(queries),
    pipelineCounts: createPipelineCounts(queries),
    edgeSchemas: createEdgeSchemas(queries),
    keyValues: createKeyValues(queries),
    alertRules: createAlertRules(queries),
    alerts: createAlerts(queries),
    alertEvents: createAlertEvents(queries),
    usage: createUsage(queries),
    storageTypeCosts: createStorageTypeCosts(queries),
    billingAccounts: createBillingAccounts(queries),
    billingMembers: createBillingMembers(queries),
    billingProducts: createBillingProducts(queries),
    billingSubscriptions: createBillingSubscriptions(queries),
    billingRoles: createBillingRoles(queries),
    billingRoleUsers: createBillingRoleUsers(queries),
    quotas: createQuotas(queries),
    auditLogs: createAuditLogs(queries),
    idempotency: createIdempotencyKeys(queries),
  };
}
