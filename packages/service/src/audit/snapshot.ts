import type { BillingAccount, BillingMember, BillingSubscription } from '../store/billing-accounts.js';
import type { BillingProduct } from '../store/billing-products.js';
import type { BillingRole, BillingRoleUser } from '../store/billing-roles.js';
import type { FeatureOverride } from '../store/feature-overrides.js';
import type { Invitation } from '../store/invitations.js';
import type { MembershipChange } from '../store/memberships.js';
import type { Quota } from '../store/quotas.js';
import type { ResourceShare, SharePolicy } from '../store/resource-shares.js';
import type { SsoConnection } from '../store/sso-connections.js';
import type { StorageTypeCost } from '../store/storage-type-costs.js';
import type {
  AlertRule,
  Connector,
  Organization,
  OrganizationSecret,
  Pipeline,
  SecretNote,
  StoredApiKey,
  StoredRole,
  Transform,
} from '../store/store.js';
import type { AuditResource } from '../store/tables.js';

/** A configured resource at one time, as the audit log shows it. */
export interface Snapshot {
  type: AuditResource;
  id: string;
  organizationId: string;
  /** The parent of a team, in whose log its creation and deletion belong. */
  parentId?: string;
  /** Connectors and transforms of a pipeline. */
  components?: readonly string[];
  /** A revoked key counts as deleted. */
  isDeleted?: boolean;
  /** Contains no secret, no digest and no part of a token. */
  document: Record<string, unknown>;
}

/** What all stored resources have. */
interface Row {
  id: string;
  name: string;
  description: string;
  createdAt: Date;
  updatedAt: Date;
}

const shared = ({ id, name, description, createdAt, updatedAt }: Row, organizationId: string) => ({
  id,
  organization_id: organizationId,
  name,
  description,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

export const ofOrganization = (row: Organization): Snapshot => ({
  type: 'organization',
  id: row.id,
  organizationId: row.id,
  ...(row.parentId !== null && { parentId: row.parentId }),
  document: {
    id: row.id,
    parent_id: row.parentId,
    name: row.name,
    friendly_name: row.friendlyName,
    description: row.description,
    allowed_origins: row.allowedOrigins,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  },
});

export const ofApiKey = (row: StoredApiKey): Snapshot => ({
  type: 'api_key',
  id: row.id,
  organizationId: row.organizationId,
  isDeleted: row.revokedAt !== null,
  document: {
    ...shared(row, row.organizationId),
    ...(row.roleId === null ? { permissions: row.permissions } : { role_id: row.roleId }),
    token_version: row.tokenVersion,
    expires_at: row.expiresAt?.toISOString() ?? null,
    ...(row.isOperator && { operator: true }),
  },
});

export const ofRole = (row: StoredRole): Snapshot => ({
  type: 'role',
  id: row.id,
  organizationId: row.organizationId,
  document: { ...shared(row, row.organizationId), permissions: row.permissions },
});

/** A user as a member of the organization. */
export const ofMembership = (row: MembershipChange): Snapshot => ({
  type: 'user',
  id: row.userId,
  organizationId: row.organizationId,
  document: {
    id: row.userId,
    organization_id: row.organizationId,
    email: row.user.email,
    username: row.user.username,
    role_id: row.roleId,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  },
});

export const ofInvitation = (row: Invitation): Snapshot => ({
  type: 'invitation',
  id: row.id,
  organizationId: row.organizationId,
  document: {
    id: row.id,
    organization_id: row.organizationId,
    email: row.email,
    role_id: row.roleId,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  },
});

export const ofSsoConnection = (row: SsoConnection): Snapshot => ({
  type: 'connection',
  id: row.id,
  organizationId: row.organizationId,
  document: {
    ...shared(row, row.organizationId),
    public_name: row.publicName,
    email_domains: row.emailDomains,
    saml_entity_id: row.entityId,
    saml_metadata_url: row.metadataUrl,
    default_role_id: row.defaultRoleId,
    session_timeout: row.sessionTimeout,
  },
});

/** @param organizationId the organization in whose log the change belongs */
export const ofFeatureOverride = (row: FeatureOverride, organizationId: string): Snapshot => ({
  type: 'feature_flag',
  id: row.id,
  organizationId,
  document: {
    id: row.id,
    feature: row.feature,
    ...(row.organizationId !== null && { organization_id: row.organizationId }),
    ...(row.userId !== null && { user_id: row.userId }),
    enabled: row.enabled,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  },
});

/** `withSecrets` adds the secrets. */
export const ofConnector = (row: Connector): Snapshot => ({
  type: row.kind,
  id: row.id,
  organizationId: row.organizationId,
  document: {
    ...shared(row, row.organizationId),
    type: row.type,
    config: { settings: row.settings },
    ...(row.port !== null && { port: row.port }),
    version: row.version,
  },
});

/** @param isChanged whether its value was set */
export const ofSecret = (row: OrganizationSecret, isChanged = false): Snapshot => ({
  type: 'secret',
  id: row.id,
  organizationId: row.organizationId,
  document: {
    ...shared(row, row.organizationId),
    destinations: row.destinations.map(({ kind, type, settings }) => ({ kind, type, settings })),
    restricted: row.restricted,
    version: row.version,
    ...(isChanged && { changed: true }),
  },
});

export const ofTransform = (row: Transform): Snapshot => ({
  type: 'transform',
  id: row.id,
  organizationId: row.organizationId,
  document: { ...shared(row, row.organizationId), config: row.config, version: row.version },
});

export const ofPipeline = (row: Pipeline): Snapshot => ({
  type: 'pipeline',
  id: row.id,
  organizationId: row.organizationId,
  components: row.nodes.map((node) => node.component_id),
  document: {
    ...shared(row, row.organizationId),
    enabled: row.enabled,
    nodes: row.nodes,
    edges: row.edges,
    version: row.version,
  },
});

export const ofAlertRule = (row: AlertRule): Snapshot => ({
  type: 'alert_rule',
  id: row.id,
  organizationId: row.organizationId,
  document: {
    ...shared(row, row.organizationId),
    type: row.type,
    severity: row.severity,
    active: row.active,
    pipeline_ids: row.pipelineIds,
    invert_selection: row.invertSelection,
    rule_config: row.ruleConfig,
    version: row.version,
  },
});

/**
 * Adds the metadata of its secrets to the document of a connector.
 * @param changed the fields whose value was set; their entries contain `changed: true`
 */
export function withSecrets(
  { document }: Snapshot,
  notes: readonly SecretNote[],
  changed: ReadonlySet<string>,
): Record<string, unknown> {
  const config: unknown = document['config'];
  const secrets = notes.map(({ field, id, name, updatedAt }) => [
    field,
    { id, name, updated_at: updatedAt.toISOString(), ...(changed.has(field) && { changed: true }) },
  ]);
  return { ...document, config: { ...(typeof config === 'object' && config), secrets: Object.fromEntries(secrets) } };
}

export const ofResourceShare = (row: ResourceShare): Snapshot => ({
  type: 'resource_share',
  id: row.id,
  organizationId: row.ownerOrganizationId,
  document: {
    id: row.id,
    owner_organization_id: row.ownerOrganizationId,
    target_organization_id: row.targetOrganizationId,
    ...resourceOf(row),
    created_at: row.createdAt.toISOString(),
  },
});

/** Recorded while new teams get the resource. */
export const ofSharePolicy = (row: SharePolicy): Snapshot => ({
  type: 'share_policy',
  id: row.id,
  organizationId: row.ownerOrganizationId,
  document: {
    id: row.id,
    owner_organization_id: row.ownerOrganizationId,
    ...resourceOf(row),
    share_with_all_new_children: true,
    created_at: row.createdAt.toISOString(),
  },
});

const resourceOf = ({ connectorId, secretId }: Pick<ResourceShare, 'connectorId' | 'secretId'>) => ({
  resource_type: connectorId === null ? 'secret' : 'component',
  resource_id: connectorId ?? secretId,
});

/** Rows of billing belong in the log of the organization that bills. */
const ofOwner = (
  type: AuditResource,
  row: { id: string; ownerOrganizationId: string },
  document: object,
): Snapshot => ({
  type,
  id: row.id,
  organizationId: row.ownerOrganizationId,
  document: { id: row.id, owner_organization_id: row.ownerOrganizationId, ...document },
});

const times = ({ createdAt, updatedAt }: { createdAt: Date; updatedAt: Date }) => ({
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

const interval = ({ startsAt, endsAt }: { startsAt: Date; endsAt: Date | null }) => ({
  starts_at: startsAt.toISOString(),
  ends_at: endsAt?.toISOString() ?? null,
});

/** A deleted account keeps its row. */
export const ofBillingAccount = (row: BillingAccount): Snapshot => ({
  ...ofOwner('billing_account', row, {
    name: row.name,
    description: row.description,
    billing_email: row.billingEmail,
    suspend_on: row.suspendOn?.toISOString() ?? null,
    ...times(row),
  }),
  isDeleted: row.deletedAt !== null,
});

export const ofBillingMember = (row: BillingMember): Snapshot =>
  ofOwner('billing_member', row, {
    billing_account_id: row.billingAccountId,
    organization_id: row.organizationId,
    ...interval(row),
  });

export const ofBillingSubscription = (row: BillingSubscription): Snapshot =>
  ofOwner('billing_subscription', row, {
    billing_account_id: row.billingAccountId,
    product_id: row.productId,
    ...interval(row),
  });

export const ofBillingProduct = (row: BillingProduct): Snapshot =>
  ofOwner('billing_product', row, {
    slug: row.slug,
    name: row.name,
    description: row.description,
    features: row.features,
    contact_email: row.contactEmail,
    product_type: row.productType,
    is_default: row.isDefault,
    is_active: row.isActive,
    recurring_cost_cents: row.recurringCostCents,
    recurring_frequency: row.recurringFrequency,
    usage_unit: row.usageUnit,
    usage_unit_cost_cents: row.usageUnitCostCents,
    ...times(row),
  });

export const ofBillingRole = (row: BillingRole): Snapshot =>
  ofOwner('billing_role', row, {
    billing_account_id: row.billingAccountId,
    name: row.name,
    description: row.description,
    permissions: row.permissions,
    ...times(row),
  });

export const ofBillingRoleUser = (row: BillingRoleUser): Snapshot =>
  ofOwner('billing_role_user', row, {
    billing_role_id: row.billingRoleId,
    email: row.email,
    created_at: row.createdAt.toISOString(),
  });

export const ofQuota = (row: Quota): Snapshot =>
  ofOwner('quota', row, {
    organization_id: row.organizationId,
    billing_account_id: row.billingAccountId,
    name: row.name,
    limit_type: row.limitType,
    limit_amount: row.limitAmount,
    timeframe: row.timeframe,
    action: row.action,
    ...times(row),
  });

export const ofStorageTypeCost = (row: StorageTypeCost): Snapshot => ({
  type: 'storage_type_cost',
  id: row.id,
  organizationId: row.organizationId,
  document: {
    id: row.id,
    organization_id: row.organizationId,
    storage_type: row.storageType,
    cost_per_gb: row.nanodollarsPerGb / 1e9,
  },
});
