/** Drizzle definitions of the tables in `migrations/*.sql`. A test compares the two. */
import type { ConnectorKind } from '@connector-frame/catalog/types';
import type {
  ComponentType,
  ConsumerOptions,
  ConsumerPosition,
  DataRecord,
  NodeCounts,
  PipelineEdge,
  PipelineNode,
  SchemaTag,
} from '@connector-frame/engine';
import {
  bigint,
  boolean,
  customType,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  varchar,
} from 'drizzle-orm/pg-core';
import type { Grant, Permission } from '../permissions.js';

const bytes = customType<{ data: Buffer; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  // node-postgres returns a Buffer, PGlite a Uint8Array.
  fromDriver: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
});

const timestamptz = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

export const organizations = pgTable('organizations', {
  id: text('id').primaryKey(),
  parentId: text('parent_id'),
  name: text('name').notNull(),
  description: text('description').notNull(),
  friendlyName: text('friendly_name').notNull(),
  allowedOrigins: text('allowed_origins').array().notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const dataKeys = pgTable('data_keys', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id'),
  masterKeyId: text('master_key_id').notNull(),
  wrapped: bytes('wrapped').notNull(),
  createdAt: timestamptz('created_at').notNull(),
});

export const apiKeys = pgTable('api_keys', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  name: text('name').notNull(),
  digest: bytes('digest').notNull(),
  hint: text('hint').notNull(),
  description: text('description').notNull(),
  permissions: text('permissions').array().$type<Grant[]>().notNull(),
  roleId: text('role_id'),
  tokenVersion: integer('token_version').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
  expiresAt: timestamptz('expires_at'),
  revokedAt: timestamptz('revoked_at'),
  /** Null for keys that were created before it was recorded. */
  createdBy: jsonb('created_by').$type<KeyCreator>(),
  /** Whether it acts for the operator of the service, besides its organization. */
  isOperator: boolean('is_operator').notNull(),
});

/** Who created an API key, with the name at that time. */
export interface KeyCreator {
  type: 'api_key' | 'user' | 'service';
  id: string;
  name: string;
}

export const roles = pgTable('roles', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  permissions: text('permissions').array().$type<Permission[]>().notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

/** How a user signs in. */
export type SignInMethod = 'local' | 'oidc' | 'saml';

/** What the service uses of the metadata of a SAML identity provider. */
export interface SamlIdp {
  /** Address that browsers are sent to (HTTP-Redirect binding). */
  signOnUrl: string;
  /** Certificates of its signatures, as base64 of DER. */
  certificates: readonly string[];
}

/** Single sign-on of an organization. */
export const ssoConnections = pgTable('sso_connections', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  name: text('name').notNull(),
  publicName: text('public_name').notNull(),
  description: text('description').notNull(),
  entityId: text('entity_id').notNull(),
  metadataUrl: text('metadata_url').notNull(),
  emailDomains: text('email_domains').array().notNull(),
  defaultRoleId: text('default_role_id'),
  /** Seconds. */
  sessionTimeout: integer('session_timeout'),
  idp: jsonb('idp').$type<SamlIdp>().notNull(),
  idpReadAt: timestamptz('idp_read_at').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const users = pgTable('users', {
  id: text('id').primaryKey(),
  /** The connection whose identity provider the user belongs to; null for all others. */
  connectionId: text('connection_id'),
  /** Lower case. */
  email: text('email').notNull(),
  username: text('username').notNull(),
  emailVerifiedAt: timestamptz('email_verified_at'),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const userIdentities = pgTable('user_identities', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  provider: text('provider').$type<SignInMethod>().notNull(),
  issuer: text('issuer').notNull(),
  subject: text('subject').notNull(),
  createdAt: timestamptz('created_at').notNull(),
});

export const localCredentials = pgTable('local_credentials', {
  userId: text('user_id').primaryKey(),
  password: text('password').notNull(),
  /** The sealed secret of the authenticator app; null without a second factor. */
  totp: bytes('totp'),
  totpStep: bigint('totp_step', { mode: 'number' }).notNull(),
  totpCreatedAt: timestamptz('totp_created_at'),
  /** Digests of the unused codes. */
  recoveryCodes: text('recovery_codes').array().notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const memberships = pgTable(
  'memberships',
  {
    organizationId: text('organization_id').notNull(),
    userId: text('user_id').notNull(),
    roleId: text('role_id').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    updatedAt: timestamptz('updated_at').notNull(),
  },
  ({ organizationId, userId }) => [primaryKey({ columns: [organizationId, userId] })],
);

export const signIns = pgTable('sign_ins', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  method: text('method').$type<SignInMethod>().notNull(),
  generation: integer('generation').notNull(),
  rotatedAt: timestamptz('rotated_at').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  expiresAt: timestamptz('expires_at').notNull(),
});

export const invitations = pgTable('invitations', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  email: text('email').notNull(),
  roleId: text('role_id').notNull(),
  digest: bytes('digest').notNull(),
  mailed: boolean('mailed').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  expiresAt: timestamptz('expires_at').notNull(),
});

/** Consents to use an account at a vendor, until the connector is saved. */
export const consents = pgTable('consents', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  sessionId: text('session_id').notNull(),
  kind: text('kind').$type<ConnectorKind>().notNull(),
  typeId: text('type_id').notNull(),
  stateDigest: bytes('state_digest').notNull(),
  browserDigest: bytes('browser_digest'),
  destination: bytes('destination').notNull(),
  status: text('status').$type<'created' | 'opened' | 'redeeming' | 'granted' | 'cancelled' | 'failed'>().notNull(),
  sealed: bytes('sealed').notNull(),
  account: text('account'),
  createdAt: timestamptz('created_at').notNull(),
  expiresAt: timestamptz('expires_at').notNull(),
});

/** What clients may know of a secret that is a connected account. Dates in RFC 3339. */
export interface SecretConsent {
  /** Name of the account, if the vendor sent it. */
  account: string | null;
  connectedAt: string;
  /** Since when the vendor no longer accepts it. */
  needsReauthAt: string | null;
}

export const signInTickets = pgTable('sign_in_tickets', {
  digest: bytes('digest').primaryKey(),
  purpose: text('purpose').notNull(),
  userId: text('user_id'),
  content: jsonb('content').$type<Record<string, unknown>>().notNull(),
  expiresAt: timestamptz('expires_at').notNull(),
});

export const samlAssertions = pgTable(
  'saml_assertions',
  {
    connectionId: text('connection_id').notNull(),
    assertionId: text('assertion_id').notNull(),
    expiresAt: timestamptz('expires_at').notNull(),
  },
  ({ connectionId, assertionId }) => [primaryKey({ columns: [connectionId, assertionId] })],
);

/** What the operator sets for an organization or a user. One of the two ids is set. */
export const featureOverrides = pgTable('feature_overrides', {
  id: text('id').primaryKey(),
  feature: text('feature').notNull(),
  organizationId: text('organization_id'),
  userId: text('user_id'),
  enabled: boolean('enabled').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const connectors = pgTable('connectors', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  kind: text('kind').$type<ConnectorKind>().notNull(),
  type: text('type').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  settings: jsonb('settings').$type<Record<string, unknown>>().notNull(),
  version: integer('version').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
  /** Set for types that listen. */
  port: integer('port'),
  /** The output that the settings of an enrichment name. */
  refersTo: text('refers_to'),
});

export const freedPorts = pgTable('freed_ports', {
  port: integer('port').primaryKey(),
  freedAt: timestamptz('freed_at').notNull(),
});

/**
 * A destination that a secret may be sent to: a connector type, and the settings that address it; or
 * the transforms of the organization, which keep it inside the service.
 */
export interface ListedDestination {
  kind: ConnectorKind | 'transform';
  type: string;
  /** The settings, as clients give and read them. */
  settings: Readonly<Record<string, unknown>>;
  /** Canonical text of the type and of all settings that are bound, to compare destinations. */
  text: string;
  /** Keyed digest of the connector's secrets that are addresses themselves, if it has any. */
  secrets?: string;
}

/** Secrets that several connectors can use. */
export const organizationSecrets = pgTable('organization_secrets', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  keyId: text('key_id').notNull(),
  sealed: bytes('sealed').notNull(),
  destinations: jsonb('destinations').$type<readonly ListedDestination[]>().notNull(),
  /** Whether only a caller who knows the value can add destinations. */
  restricted: boolean('restricted').notNull(),
  version: integer('version').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

/** Secrets of connectors: their own values, or references to secrets of the organization. */
export const secrets = pgTable('secrets', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  connectorId: text('connector_id').notNull(),
  field: text('field').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  keyId: text('key_id').notNull(),
  sealed: bytes('sealed').notNull(),
  /**
   * Digest of the destination, for a secret in format 1. Later formats authenticate the destination
   * inside `sealed`.
   */
  destination: text('destination'),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
  /** The secret of the organization that this row refers to. `sealed` contains its id then. */
  secretId: text('secret_id'),
  /** For a connected account. The value is its tokens then. */
  consent: jsonb('consent').$type<SecretConsent>(),
});

/** Outputs and secrets that an organization shares with its teams. One of the two ids is set. */
export const resourceShares = pgTable('resource_shares', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  targetOrganizationId: text('target_organization_id').notNull(),
  connectorId: text('connector_id'),
  secretId: text('secret_id'),
  createdAt: timestamptz('created_at').notNull(),
});

/** Outputs and secrets that new teams get. One of the two ids is set. */
export const sharePolicies = pgTable('share_policies', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  connectorId: text('connector_id'),
  secretId: text('secret_id'),
  createdAt: timestamptz('created_at').notNull(),
});

/** A node as stored, including client fields that the service does not know. */
export type StoredNode = PipelineNode & Readonly<Record<string, unknown>>;
/** An edge as stored, including such fields. */
export type StoredEdge = PipelineEdge & Readonly<Record<string, unknown>>;

/** A transform as it was given; `readTransform` applies defaults. */
export type StoredTransform = Readonly<Record<string, unknown>> & { operations: readonly unknown[] };

export const keyValueTables = pgTable('key_value_tables', {
  connectorId: text('connector_id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  keys: bigint('keys', { mode: 'number' }).notNull(),
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
  writtenAt: timestamptz('written_at'),
});

export const keyValueEntries = pgTable(
  'key_value_entries',
  {
    connectorId: text('connector_id').notNull(),
    digest: bytes('digest').notNull(),
    /** JSON. */
    value: text('value').notNull(),
    /** Size of the key and the value in UTF-8. */
    bytes: integer('bytes').notNull(),
    updatedAt: timestamptz('updated_at').notNull(),
    expiresAt: timestamptz('expires_at'),
  },
  ({ connectorId, digest }) => [primaryKey({ columns: [connectorId, digest] })],
);

export const removedKeyValueTables = pgTable('removed_key_value_tables', {
  connectorId: text('connector_id').primaryKey(),
});

export const transforms = pgTable('transforms', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  config: jsonb('config').$type<StoredTransform>().notNull(),
  version: integer('version').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const pipelines = pgTable('pipelines', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  enabled: boolean('enabled').notNull(),
  nodes: jsonb('nodes').$type<readonly StoredNode[]>().notNull(),
  edges: jsonb('edges').$type<readonly StoredEdge[]>().notNull(),
  version: integer('version').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const pipelineComponents = pgTable('pipeline_components', {
  pipelineId: text('pipeline_id').notNull(),
  organizationId: text('organization_id').notNull(),
  connectorId: text('connector_id'),
  transformId: text('transform_id'),
});

/** Counts of the nodes of a pipeline since its creation, by node id. */
export type CountsByNode = Readonly<
  Record<string, NodeCounts & { type: ComponentType; /** Absent: none. */ failed_attempts?: number }>
>;

export const pipelineCounts = pgTable(
  'pipeline_counts',
  {
    pipelineId: text('pipeline_id').notNull(),
    /** Start of the minute at whose end the counts were these. */
    minute: timestamptz('minute').notNull(),
    nodes: jsonb('nodes').$type<CountsByNode>().notNull(),
  },
  ({ pipelineId, minute }) => [primaryKey({ columns: [pipelineId, minute] })],
);

/** Nodes of pipelines whose usage is kept, each with the component that it had. */
export const usageSeries = pgTable('usage_series', {
  id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
  organizationId: text('organization_id').notNull(),
  parentId: text('parent_id'),
  pipelineId: text('pipeline_id').notNull(),
  nodeId: text('node_id').notNull(),
  componentType: text('component_type').$type<ComponentType>().notNull(),
  componentId: text('component_id').notNull(),
  /** Type of the connector; empty for a transform. */
  type: text('type').notNull(),
  /** Component of the pipeline's input; empty if it has none. */
  inputId: text('input_id').notNull(),
});

/** What the usage of a node counts. */
export interface UsageAmounts {
  ingressBytes: number;
  ingressRecords: number;
  egressBytes: number;
  egressRecords: number;
  errors: number;
  /** Records of the input that an output has handled, before conditions and transforms. */
  unfilteredBytes: number;
  unfilteredRecords: number;
}

const amount = (name: string) => bigint(name, { mode: 'number' }).notNull();

export const usageCounts = pgTable(
  'usage_counts',
  {
    seriesId: integer('series_id').notNull(),
    /** Minutes since 1970. Older rows are those of an hour, at its first minute. */
    minute: integer('minute').notNull(),
    ingressBytes: amount('ingress_bytes'),
    ingressRecords: amount('ingress_records'),
    egressBytes: amount('egress_bytes'),
    egressRecords: amount('egress_records'),
    errors: amount('errors'),
    unfilteredBytes: amount('unfiltered_bytes'),
    unfilteredRecords: amount('unfiltered_records'),
  },
  ({ seriesId, minute }) => [primaryKey({ columns: [seriesId, minute] })],
);

export const usageDays = pgTable(
  'usage_days',
  {
    organizationId: text('organization_id').notNull(),
    /** Days since 1970. */
    day: integer('day').notNull(),
    /** Of inputs. */
    ingressBytes: amount('ingress_bytes'),
    /** Of outputs. */
    egressBytes: amount('egress_bytes'),
  },
  ({ organizationId, day }) => [primaryKey({ columns: [organizationId, day] })],
);

export const usageWriters = pgTable('usage_writers', {
  holder: text('holder').primaryKey(),
  sequence: bigint('sequence', { mode: 'number' }).notNull(),
  writtenAt: timestamptz('written_at').notNull(),
});

/** Sum of a node in an hour. */
export interface NodeUsage extends UsageAmounts {
  nodeId: string;
  componentType: ComponentType;
  componentId: string;
  type: string;
}

export const usageEvents = pgTable(
  'usage_events',
  {
    organizationId: text('organization_id').notNull(),
    parentId: text('parent_id'),
    pipelineId: text('pipeline_id').notNull(),
    /** Hours since 1970. */
    hour: integer('hour').notNull(),
    changes: integer('changes').notNull(),
    revision: integer('revision').notNull(),
    sent: jsonb('sent').$type<readonly NodeUsage[]>(),
    sending: jsonb('sending').$type<readonly NodeUsage[]>(),
    attempts: integer('attempts').notNull(),
    nextAttemptAt: timestamptz('next_attempt_at'),
  },
  ({ pipelineId, hour }) => [primaryKey({ columns: [pipelineId, hour] })],
);

export const storageTypeCosts = pgTable('storage_type_costs', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  storageType: text('storage_type').notNull(),
  /** Billionths of a US dollar per 10^9 bytes. */
  nanodollarsPerGb: amount('nanodollars_per_gb'),
});

export const PRODUCT_TYPES = ['default', 'premium', 'custom'] as const;
/** How often the recurring cost of a product is charged, and how long a billing cycle is. */
export const FREQUENCIES = ['month', 'year'] as const;
/** What a product charges for besides its recurring cost. */
export const USAGE_UNITS = ['egress_gb', 'egress_million_records', 'ingress_gb', 'ingress_million_records'] as const;

export const billingProducts = pgTable('billing_products', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  slug: text('slug').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  features: text('features').array().notNull(),
  contactEmail: text('contact_email'),
  productType: text('product_type').$type<(typeof PRODUCT_TYPES)[number]>().notNull(),
  isDefault: boolean('is_default').notNull(),
  isActive: boolean('is_active').notNull(),
  recurringCostCents: amount('recurring_cost_cents'),
  recurringFrequency: text('recurring_frequency').$type<(typeof FREQUENCIES)[number]>().notNull(),
  /** Null: usage costs nothing. */
  usageUnit: text('usage_unit').$type<(typeof USAGE_UNITS)[number]>(),
  usageUnitCostCents: amount('usage_unit_cost_cents'),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const billingAccounts = pgTable('billing_accounts', {
  id: text('id').primaryKey(),
  /** The parent organization that has made it. */
  ownerOrganizationId: text('owner_organization_id').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  billingEmail: text('billing_email').notNull(),
  /** From then on, the pipelines of its organizations are suspended. */
  suspendOn: timestamptz('suspend_on'),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
  deletedAt: timestamptz('deleted_at'),
});

export const billingMembers = pgTable('billing_members', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  billingAccountId: text('billing_account_id').notNull(),
  organizationId: text('organization_id').notNull(),
  startsAt: timestamptz('starts_at').notNull(),
  endsAt: timestamptz('ends_at'),
});

export const billingSubscriptions = pgTable('billing_subscriptions', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  billingAccountId: text('billing_account_id').notNull(),
  productId: text('product_id').notNull(),
  startsAt: timestamptz('starts_at').notNull(),
  endsAt: timestamptz('ends_at'),
});

export const billingRoles = pgTable('billing_roles', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  billingAccountId: text('billing_account_id').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  permissions: text('permissions').array().$type<Permission[]>().notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

/** Users of roles by their e-mail address. They may not have signed in yet. */
export const billingRoleUsers = pgTable('billing_role_users', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  billingRoleId: text('billing_role_id').notNull(),
  email: text('email').notNull(),
  createdAt: timestamptz('created_at').notNull(),
});

export const LIMIT_TYPES = ['egress_bytes', 'ingress_bytes'] as const;
export const TIMEFRAMES = ['month', 'day'] as const;
/** `DISABLE`: pipelines are suspended once the limit is reached. `NONE`: it is only logged. */
export const QUOTA_ACTIONS = ['NONE', 'DISABLE'] as const;

export const quotas = pgTable('quotas', {
  id: text('id').primaryKey(),
  ownerOrganizationId: text('owner_organization_id').notNull(),
  /** Whose usage is limited: an organization, or all members of a billing account together. */
  organizationId: text('organization_id'),
  billingAccountId: text('billing_account_id'),
  name: text('name').notNull(),
  limitType: text('limit_type').$type<(typeof LIMIT_TYPES)[number]>().notNull(),
  limitAmount: amount('limit_amount'),
  timeframe: text('timeframe').$type<(typeof TIMEFRAMES)[number]>().notNull(),
  action: text('action').$type<(typeof QUOTA_ACTIONS)[number]>().notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

export const edgeSchemas = pgTable(
  'edge_schemas',
  {
    pipelineId: text('pipeline_id').notNull(),
    edgeId: text('edge_id').notNull(),
    /** JSON of a `SchemaState`. */
    state: text('state').notNull(),
  },
  ({ pipelineId, edgeId }) => [primaryKey({ columns: [pipelineId, edgeId] })],
);

export const edgeSchemaEvents = pgTable('edge_schema_events', {
  id: text('id').primaryKey(),
  pipelineId: text('pipeline_id').notNull(),
  edgeId: text('edge_id').notNull(),
  occurredAt: timestamptz('occurred_at').notNull(),
  tags: text('tags').array().$type<SchemaTag[]>().notNull(),
  /** JSON of `Fields`. */
  fields: text('fields').notNull(),
  fieldCount: integer('field_count').notNull(),
});

/** How urgent an alert is, most urgent first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const alertRules = pgTable('alert_rules', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  type: text('type').notNull(),
  severity: text('severity').$type<Severity>().notNull(),
  active: boolean('active').notNull(),
  pipelineIds: text('pipeline_ids').array().notNull(),
  invertSelection: boolean('invert_selection').notNull(),
  ruleConfig: jsonb('rule_config').$type<Record<string, unknown>>().notNull(),
  version: integer('version').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
});

/** What an alert is about. */
export const ALERT_RESOURCES = ['pipeline', 'node', 'organization'] as const;
export type AlertResource = (typeof ALERT_RESOURCES)[number];

export const alerts = pgTable('alerts', {
  id: text('id').primaryKey(),
  organizationId: text('organization_id').notNull(),
  ruleId: text('rule_id').notNull(),
  ruleType: text('rule_type').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  severity: text('severity').$type<Severity>().notNull(),
  pipelineId: text('pipeline_id'),
  resourceType: text('resource_type').$type<AlertResource>().notNull(),
  resourceId: text('resource_id').notNull(),
  metadata: jsonb('metadata').$type<DataRecord>().notNull(),
  createdAt: timestamptz('created_at').notNull(),
  firedAt: timestamptz('fired_at').notNull(),
  lastMatchAt: timestamptz('last_match_at'),
  clearingStartedAt: timestamptz('clearing_started_at'),
  resolvedAt: timestamptz('resolved_at'),
});

/** `reminded`: it is still firing. */
export type AlertEventName = 'fired' | 'reminded' | 'resolved';

export const alertEvents = pgTable('alert_events', {
  sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  organizationId: text('organization_id').notNull(),
  alertId: text('alert_id').notNull(),
  pipelineId: text('pipeline_id'),
  event: text('event').$type<AlertEventName>().notNull(),
  occurredAt: timestamptz('occurred_at').notNull(),
  /** In API format. */
  alert: jsonb('alert').$type<DataRecord>().notNull(),
});

export const alertFeeds = pgTable(
  'alert_feeds',
  {
    pipelineId: text('pipeline_id').notNull(),
    nodeId: text('node_id').notNull(),
    /** Sequence of the last event before the input was there. */
    beginsAfter: bigint('begins_after', { mode: 'number' }).notNull(),
  },
  ({ pipelineId, nodeId }) => [primaryKey({ columns: [pipelineId, nodeId] })],
);

export const AUDIT_ACTIONS = ['insert', 'update', 'delete'] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Types of the resources whose changes are recorded. `pipeline_data`: records that a pipeline keeps. */
export const AUDIT_RESOURCES = [
  'alert_rule',
  'api_key',
  'connection',
  'feature_flag',
  'enrichment',
  'billing_account',
  'billing_member',
  'billing_product',
  'billing_role',
  'billing_role_user',
  'billing_subscription',
  'input',
  'invitation',
  'organization',
  'output',
  'pipeline',
  'pipeline_data',
  'quota',
  'resource_share',
  'role',
  'secret',
  'share_policy',
  'storage_type_cost',
  'transform',
  'user',
] as const;
export type AuditResource = (typeof AUDIT_RESOURCES)[number];

/** Who made a change, as responses contain it. */
export interface AuditActor {
  /** ID of the API key, the user or the session. */
  id: string;
  name: string;
  /** Of a user. */
  email?: string;
  /** `local`, `oidc` and `saml`: how the user signed in. */
  auth_method: 'api_key' | 'session' | 'service' | SignInMethod;
  /** The API key that created the session. */
  api_key_id?: string;
  /** The user who created the session. */
  user_id?: string;
  /** The organization of the session. */
  organization_id?: string;
  /** Absent if the key was created with permissions instead of a role. */
  role?: { id: string; name: string; organization_id: string; inherited: boolean };
}

export const auditLogs = pgTable('audit_logs', {
  id: text('id').primaryKey(),
  sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
  organizationId: text('organization_id').notNull(),
  occurredAt: timestamptz('occurred_at').notNull(),
  requestId: text('request_id').notNull(),
  action: text('action').$type<AuditAction>().notNull(),
  resourceType: text('resource_type').$type<AuditResource>().notNull(),
  resourceId: text('resource_id').notNull(),
  apiKeyId: text('api_key_id'),
  actor: jsonb('actor').$type<AuditActor>().notNull(),
  old: jsonb('old').$type<Record<string, unknown>>(),
  new: jsonb('new').$type<Record<string, unknown>>(),
  pipelineIds: text('pipeline_ids').array().notNull(),
});

export const idempotencyKeys = pgTable('idempotency_keys', {
  organizationId: text('organization_id').notNull(),
  key: text('key').notNull(),
  requestDigest: bytes('request_digest').notNull(),
  owner: text('owner').notNull(),
  lockedUntil: timestamptz('locked_until').notNull(),
  expiresAt: timestamptz('expires_at').notNull(),
  response: text('answer'),
});

export const busStreams = pgTable('bus_streams', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  name: text('name').notNull(),
  version: bigint('version', { mode: 'number' }).notNull(),
  sequence: bigint('sequence', { mode: 'number' }).notNull(),
  batches: bigint('batches', { mode: 'number' }).notNull(),
  records: bigint('records', { mode: 'number' }).notNull(),
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
});

export const busConsumers = pgTable(
  'bus_consumers',
  {
    streamId: bigint('stream_id', { mode: 'number' }).notNull(),
    name: text('name').notNull(),
    policy: text('policy').notNull(),
    maxBytes: bigint('max_bytes', { mode: 'number' }).notNull(),
    sequence: bigint('sequence', { mode: 'number' }).notNull(),
    batches: bigint('batches', { mode: 'number' }).notNull(),
    records: bigint('records', { mode: 'number' }).notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    isBlocking: boolean('is_blocking').notNull(),
    isDropping: boolean('is_dropping').notNull(),
    droppedBatches: bigint('dropped_batches', { mode: 'number' }).notNull(),
    droppedRecords: bigint('dropped_records', { mode: 'number' }).notNull(),
    droppedBytes: bigint('dropped_bytes', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.streamId, table.name] })],
);

export const busBatches = pgTable(
  'bus_batches',
  {
    streamId: bigint('stream_id', { mode: 'number' }).notNull(),
    sequence: bigint('sequence', { mode: 'number' }).notNull(),
    id: text('id').notNull(),
    body: bytes('body').notNull(),
    records: integer('records').notNull(),
    recordBytes: integer('record_bytes').notNull(),
    bytes: integer('bytes').notNull(),
    publishedAt: bigint('published_at', { mode: 'number' }).notNull(),
    droppedFor: text('dropped_for').array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.streamId, table.sequence] })],
);

export const busBatchIds = pgTable(
  'bus_batch_ids',
  {
    streamId: bigint('stream_id', { mode: 'number' }).notNull(),
    id: text('id').notNull(),
    sequence: bigint('sequence', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.streamId, table.id] })],
);

export const engineMembers = pgTable('engine_members', {
  id: text('id').primaryKey(),
  isLeaving: boolean('is_leaving').notNull(),
  buffers: text('buffers'),
  expiresAt: bigint('expires_at', { mode: 'number' }).notNull(),
});

export const engineLeases = pgTable('engine_leases', {
  pipelineId: text('pipeline_id').primaryKey(),
  memberId: text('member_id'),
  token: bigint('token', { mode: 'number' }).notNull(),
});

export const engineCounts = pgTable('engine_counts', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  pipelineId: text('pipeline_id').notNull(),
  counts: text('counts').notNull(),
});

export const engineLetters = pgTable(
  'engine_letters',
  {
    pipelineId: text('pipeline_id').notNull(),
    nodeId: text('node_id').notNull(),
    sequence: bigint('sequence', { mode: 'number' }).notNull(),
    storedAt: bigint('stored_at', { mode: 'number' }).notNull(),
    reason: text('reason').notNull(),
    recordId: text('record_id').notNull(),
    line: bytes('line').notNull(),
    bytes: integer('bytes').notNull(),
    replays: integer('replays').notNull(),
    isReplaying: boolean('is_replaying').notNull(),
  },
  (table) => [primaryKey({ columns: [table.pipelineId, table.nodeId, table.sequence] })],
);

export const engineLetterCounts = pgTable(
  'engine_letter_counts',
  {
    pipelineId: text('pipeline_id').notNull(),
    nodeId: text('node_id').notNull(),
    count: bigint('count', { mode: 'number' }).notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    lastSequence: bigint('last_sequence', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.pipelineId, table.nodeId] })],
);

export const engineLogs = pgTable('engine_logs', {
  sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  organizationId: text('organization_id'),
  pipelineId: text('pipeline_id'),
  loggedAt: bigint('logged_at', { mode: 'number' }).notNull(),
  entry: text('entry').notNull(),
});

export const engineRequests = pgTable('engine_requests', {
  id: text('id').primaryKey(),
  pipelineId: text('pipeline_id').notNull(),
  method: text('method').notNull(),
  parameters: text('parameters').notNull(),
  response: text('response'),
  createdAt: bigint('created_at', { mode: 'number' }).notNull(),
});

export const engineState = pgTable('engine_state', {
  key: text('key').primaryKey(),
  version: integer('version').notNull(),
  value: text('value').notNull(),
});

export const jetstreamStreams = pgTable('jetstream_streams', {
  name: text('name').primaryKey(),
  shard: integer('shard').notNull(),
  consumers: jsonb('consumers').$type<readonly ConsumerOptions[]>().notNull(),
  lost: jsonb('lost').$type<DataRecord>(),
  version: bigint('version', { mode: 'number' }).notNull().default(0),
});

export const jetstreamPositions = pgTable(
  'jetstream_positions',
  {
    stream: text('stream').notNull(),
    consumer: text('consumer').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    position: jsonb('position').$type<ConsumerPosition>().notNull(),
  },
  (row) => [primaryKey({ columns: [row.stream, row.consumer] })],
);

export const rateLimits = pgTable('rate_limits', {
  key: varchar('key', { length: 255 }).primaryKey(),
  points: integer('points').notNull(),
  expire: bigint('expire', { mode: 'number' }),
});
