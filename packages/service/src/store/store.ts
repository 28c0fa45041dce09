/**
 * Persistent data of the service and its queries. One implementation (`create-store.ts`) runs on
 * PGlite and on PostgreSQL. Every query for a connector, secret or key names the organization, so
 * that the id of another organization behaves like an unknown one.
 */
import type { ConnectorKind } from '@connector-frame/catalog/types';
import type { InferSelectModel } from 'drizzle-orm';
import type { Permission } from '../permissions.js';
import type { AlertEvents, Alerts } from './alerts.js';
import type { AuditLogs } from './audit-logs.js';
import type { BillingAccounts, BillingMembers, BillingSubscriptions } from './billing-accounts.js';
import type { BillingProducts } from './billing-products.js';
import type { BillingRoles, BillingRoleUsers } from './billing-roles.js';
import type { Consents } from './consents.js';
import type { EdgeSchemaReader } from './edge-schemas.js';
import type { FeatureOverrides } from './feature-overrides.js';
import type { Invitations } from './invitations.js';
import type { Memberships } from './memberships.js';
import type { KeyValues } from './key-values.js';
import type { Locks } from './locks.js';
import type { Quotas } from './quotas.js';
import type { ResourceShares, SharePolicies } from './resource-shares.js';
import type { ShareViews } from './share-views.js';
import type { SignIns } from './sign-ins.js';
import type { SsoConnections } from './sso-connections.js';
import type { StorageTypeCosts } from './storage-type-costs.js';
import type { Users } from './users.js';
import type {
  alertRules,
  apiKeys,
  connectors,
  CountsByNode,
  dataKeys,
  organizations,
  organizationSecrets,
  pipelines,
  roles,
  secrets,
  transforms,
} from './tables.js';
import type { Usage } from './usage.js';

/** An organization. One without `parentId` is a parent; the others are its teams. */
export type Organization = InferSelectModel<typeof organizations>;
/**
 * A data key, wrapped by the master key `masterKeyId`. `organizationId` is null for the service's
 * own key.
 */
export type WrappedKey = InferSelectModel<typeof dataKeys>;
/**
 * A stored API key; only the HMAC of its text is stored. `roleId` is null for a key that was created
 * with `permissions`. `tokenVersion` increases by one each time the key is regenerated.
 */
export type StoredApiKey = InferSelectModel<typeof apiKeys>;
/** An API key with the name and the permissions of its custom role, or null if it has none. */
export interface ApiKey extends StoredApiKey {
  roleName: string | null;
  rolePermissions: Permission[] | null;
}
/** A custom role of an organization. */
export type StoredRole = InferSelectModel<typeof roles>;
/** A configured connector without its secrets. `version` increases by one with each change. */
export type Connector = InferSelectModel<typeof connectors>;
/** A secret that several connectors can use. `version` increases by one with each change. */
export type OrganizationSecret = InferSelectModel<typeof organizationSecrets>;
/** A row of the secrets of a connector. */
export type SecretRow = InferSelectModel<typeof secrets>;
/** A secret of a connector, with the secret of the organization that it refers to, or null. */
export interface StoredSecret extends SecretRow {
  shared: OrganizationSecret | null;
}
/**
 * Metadata of a connector's secret that clients may read. A reference has the id and the organization
 * of the secret it refers to.
 */
export type SecretNote = Pick<
  SecretRow,
  'id' | 'organizationId' | 'connectorId' | 'field' | 'name' | 'updatedAt' | 'consent'
>;

/** Metadata of any secret: of one that connectors share, or of one that belongs to a connector. */
export interface ListedSecret extends Pick<
  OrganizationSecret,
  'id' | 'organizationId' | 'name' | 'description' | 'createdAt' | 'updatedAt'
> {
  /** The connector whose own secret it is, or null. */
  connectorId: string | null;
}

/** A component that uses a secret: a connector in one of its fields, or a transform. */
export interface SecretUse extends Pick<Connector, 'id' | 'organizationId' | 'type' | 'name'> {
  secretId: string;
  kind: ConnectorKind | 'transform';
  field: string;
}

/** A connector and all of its secrets, from one consistent read. */
export interface ConnectorSecrets {
  connector: Connector;
  secrets: StoredSecret[];
}

/** A resealed secret. It is stored only if the row still contains `before`. */
export interface Reseal {
  id: string;
  before: Buffer;
  sealed: Buffer;
}

/** A pipeline: its nodes, and the edges between them. */
export type Pipeline = InferSelectModel<typeof pipelines>;
/** A transform, which pipelines reference by id. */
export type Transform = InferSelectModel<typeof transforms>;

/** A rule that the engine evaluates. `version` increases by one with each change. */
export type AlertRule = InferSelectModel<typeof alertRules>;

export interface Page {
  limit: number;
  offset: number;
}

/** A page of rows in creation order, and the total number of rows. */
export interface Rows<T> {
  rows: T[];
  total: number;
}

export interface FamilyFilter {
  /** Part of the name, in any case. */
  nameSearch?: string | undefined;
  /** Only teams of this organization. */
  parentId?: string | undefined;
  /** Only organizations without teams. */
  childless?: boolean;
}

export interface Organizations {
  insert(organization: Organization): Promise<void>;
  get(id: string): Promise<Organization | undefined>;
  /** Returns the teams of a parent, oldest first. */
  teams(parentId: string, page: Page, nameSearch?: string): Promise<Rows<Organization>>;
  /** Returns the ids of all teams of a parent, oldest first. */
  teamIds(parentId: string): Promise<string[]>;
  /** Returns the names of those of these organizations that exist. */
  names(ids: readonly string[]): Promise<Map<string, string>>;
  /** Returns organizations and their teams, oldest first. */
  family(ids: readonly string[], page: Page, filter?: FamilyFilter): Promise<Rows<Organization>>;
  /** Returns the oldest parent of that name, or with `parentId` the oldest team of that name. */
  named(name: string, parentId?: string): Promise<Organization | undefined>;
  /** Reads and locks the row against changes until the transaction ends. */
  lock(id: string): Promise<Organization | undefined>;
  update(
    id: string,
    change: Partial<Pick<Organization, 'name' | 'description' | 'friendlyName' | 'allowedOrigins'>>,
    at: Date,
  ): Promise<Organization | undefined>;
  /**
   * Removes the organization and all it owns, including its data key, so that a later dump can't
   * decrypt a ciphertext from a backup.
   */
  remove(id: string): Promise<void>;
  /** Returns whether any organization allows frames on pages of this origin. */
  allowsOrigin(origin: string): Promise<boolean>;
}

export interface ApiKeys {
  insert(key: StoredApiKey): Promise<void>;
  get(id: string): Promise<ApiKey | undefined>;
  byDigest(digest: Buffer): Promise<ApiKey | undefined>;
  /** @param options `revoked: false` omits revoked keys */
  list(organizationId: string, page: Page, options?: { revoked?: boolean }): Promise<Rows<ApiKey>>;
  /** Reads and locks a key that is not revoked (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, id: string): Promise<ApiKey | undefined>;
  update(key: StoredApiKey): Promise<void>;
  /** Returns up to `limit` keys that have this role and are not revoked. */
  withRole(organizationId: string, roleId: string, limit: number): Promise<Pick<ApiKey, 'id' | 'name'>[]>;
}

/** Custom roles. The default roles are not stored. */
export interface Roles {
  insert(role: StoredRole): Promise<void>;
  get(organizationId: string, id: string): Promise<StoredRole | undefined>;
  /** Reads the row and locks it against changes (`FOR SHARE`) until the transaction ends. */
  hold(organizationId: string, id: string): Promise<StoredRole | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, id: string): Promise<StoredRole | undefined>;
  list(organizationId: string, page: Page): Promise<Rows<StoredRole>>;
  update(role: StoredRole): Promise<void>;
  remove(organizationId: string, id: string): Promise<void>;
}

export interface Connectors {
  insert(connector: Connector): Promise<void>;
  get(organizationId: string, kind: ConnectorKind, id: string): Promise<Connector | undefined>;
  /** Returns those of these connectors that exist, of either kind. */
  some(organizationId: string, ids: readonly string[]): Promise<Connector[]>;
  /** Returns a connector of another organization that is shared with this one. */
  shared(organizationId: string, kind: ConnectorKind, id: string): Promise<Connector | undefined>;
  /** Returns a connector of either kind with its secrets. */
  withSecrets(organizationId: string, id: string): Promise<ConnectorSecrets | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, kind: ConnectorKind, id: string): Promise<Connector | undefined>;
  /**
   * Reads and locks connectors of either kind (`FOR UPDATE`) until the transaction ends. Locks them
   * in the order of their ids, which prevents deadlocks.
   * @param organizationIds those that may own them
   */
  lockAll(organizationIds: readonly string[], ids: readonly string[]): Promise<Connector[]>;
  /**
   * Locks the existing rows against deletion (`FOR KEY SHARE`) until the transaction ends, also those
   * that are shared with the organization, which can't be taken away from it meanwhile. They may
   * still be updated.
   */
  hold(organizationId: string, ids: readonly string[]): Promise<Pick<Connector, 'id' | 'kind'>[]>;
  /** @param options `shared: true` includes those that are shared with the organization */
  list(
    organizationId: string,
    kind: ConnectorKind,
    page: Page,
    options?: { shared?: boolean },
  ): Promise<Rows<Connector>>;
  update(connector: Connector): Promise<void>;
  /** Increments the versions of connectors, so that the engine applies them again. */
  touch(ids: readonly string[]): Promise<void>;
  remove(id: string): Promise<void>;
  /** Returns the enrichments whose settings name an output, oldest first. */
  referringTo(id: string): Promise<Pick<Connector, 'id' | 'name'>[]>;
  /**
   * Returns a connector of any organization. Call it only after the sender has presented that
   * connector's own token.
   */
  ofToken(id: string): Promise<Connector | undefined>;
  /**
   * Returns the port of this range that has been free for longest, or `undefined` if all are taken.
   * The caller must store it in the same transaction.
   */
  takePort(range: { first: number; last: number }): Promise<number | undefined>;
  /** Returns the inputs of these types, of any organization, that have no port. */
  withoutPort(types: readonly string[]): Promise<Connector[]>;
}

/** Secrets that several connectors can use, and a view of all secrets. */
export interface OrganizationSecrets {
  insert(secret: OrganizationSecret): Promise<void>;
  get(organizationId: string, id: string): Promise<OrganizationSecret | undefined>;
  /** Returns a secret of the organization, or one that is shared with it. */
  usable(organizationId: string, id: string): Promise<OrganizationSecret | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, id: string): Promise<OrganizationSecret | undefined>;
  /** Locks like `lock`, also a secret that is shared with the organization. */
  lockUsable(organizationId: string, id: string): Promise<OrganizationSecret | undefined>;
  /** @param isRotated whether its value is another one, for the audit log */
  update(secret: OrganizationSecret, isRotated?: boolean): Promise<void>;
  /**
   * Stores the value that a vendor has replaced the secret with. Returns false if its row no longer
   * contains `before`.
   */
  replaceValue(replacement: Reseal): Promise<boolean>;
  remove(id: string): Promise<void>;
  /**
   * Returns the metadata of all secrets of an organization, also of those of its connectors, and of
   * those that are shared with it.
   */
  list(organizationId: string, page: Page): Promise<Rows<ListedSecret>>;
  /** Returns those of these secrets that exist. */
  some(organizationId: string, ids: readonly string[]): Promise<OrganizationSecret[]>;
  /**
   * Returns the connectors that use these secrets, oldest first, also the owners of their own, and
   * then the transforms.
   */
  uses(organizationId: string, ids: readonly string[]): Promise<SecretUse[]>;
  /** Returns what uses a secret, also in the organizations that it is shared with. */
  allUses(ownerId: string, id: string): Promise<SecretUse[]>;
}

export interface Secrets {
  /** Returns a connector's own secret. */
  get(organizationId: string, id: string): Promise<StoredSecret | undefined>;
  ofConnector(connectorId: string): Promise<StoredSecret[]>;
  /** Returns the metadata of the secrets of several connectors, never the sealed values. */
  notes(connectorIds: readonly string[]): Promise<SecretNote[]>;
  /** Inserts each secret, or replaces the one that its connector had in that field. */
  put(secrets: readonly SecretRow[]): Promise<void>;
  /** Removes secrets of a connector. */
  remove(connectorId: string, ids: readonly string[]): Promise<void>;
  /**
   * Turns a connector's own secret into a reference. Returns false if its row no longer contains
   * `before`.
   */
  refer(reference: Reseal & { secretId: string }): Promise<boolean>;
  /**
   * Stores the value that a vendor has replaced a connector's own secret with. Returns false if its row
   * no longer contains `before`.
   */
  replaceValue(replacement: Reseal): Promise<boolean>;
  /** Notes that a connected account has to be connected again, unless it was since `connectedAt`. */
  noteReauth(id: string, connectedAt: string, at: Date): Promise<void>;
  /**
   * Stores resealed values and moves their rows out of format 1. A row that was changed in the
   * meantime keeps the change.
   */
  reseal(reseals: readonly Reseal[]): Promise<void>;
  /**
   * Returns connectors of any organization that have secrets in format 1, ordered by id, starting
   * after `after`.
   */
  inFormat1(after: string, limit: number): Promise<ConnectorSecrets[]>;
}

export interface Transforms {
  insert(transform: Transform): Promise<void>;
  get(organizationId: string, id: string): Promise<Transform | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, id: string): Promise<Transform | undefined>;
  /**
   * Locks the existing rows against deletion (`FOR KEY SHARE`) until the transaction ends. They may
   * still be updated.
   */
  hold(organizationId: string, ids: readonly string[]): Promise<Pick<Transform, 'id'>[]>;
  list(organizationId: string, page: Page): Promise<Rows<Transform>>;
  update(transform: Transform): Promise<void>;
  /** Increments the versions of transforms, so that the engine applies them again. */
  touch(ids: readonly string[]): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface AlertRules {
  insert(rule: AlertRule): Promise<void>;
  get(organizationId: string, id: string): Promise<AlertRule | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, id: string): Promise<AlertRule | undefined>;
  list(organizationId: string, page: Page): Promise<Rows<AlertRule>>;
  /** Returns the number of rules of an organization. */
  count(organizationId: string): Promise<number>;
  update(rule: AlertRule): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface Pipelines {
  /** The caller must hold its components (`hold`). */
  insert(pipeline: Pipeline): Promise<void>;
  get(organizationId: string, id: string): Promise<Pipeline | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, id: string): Promise<Pipeline | undefined>;
  /** @param componentId returns only pipelines that use this connector or transform */
  list(organizationId: string, page: Page, componentId?: string): Promise<Rows<Pipeline>>;
  /** Returns all pipelines that use a connector or transform, oldest first. */
  using(organizationId: string, componentId: string): Promise<Pipeline[]>;
  /** Returns the pipelines of all organizations that use a connector or transform, oldest first. */
  usingAnywhere(componentId: string): Promise<Pipeline[]>;
  /** Returns the pipeline that contains a node. */
  ofNode(organizationId: string, nodeId: string): Promise<Pipeline | undefined>;
  /** Returns all pipelines of an organization, oldest first. */
  all(organizationId: string): Promise<Pipeline[]>;
  /** Returns the ids of all pipelines of an organization. */
  ids(organizationId: string): Promise<string[]>;
  /** The caller must hold (`hold`) the components that `before` does not have. */
  update(pipeline: Pipeline, before: Pipeline): Promise<void>;
  remove(id: string): Promise<void>;
}

/** What pipelines have counted since their creation, by node. Only the engine writes it. */
export interface PipelineCounts {
  /** Returns the last counts of each pipeline before `time`. A pipeline without any is left out. */
  before(pipelineIds: readonly string[], time: Date): Promise<Map<string, CountsByNode>>;
  /** Returns the counts of a pipeline from `start` until before `end`, oldest first. */
  between(pipelineId: string, start: Date, end: Date): Promise<{ minute: Date; nodes: CountsByNode }[]>;
}

export interface DataKeys {
  /** Does nothing if a key with that id exists. */
  insert(key: WrappedKey): Promise<void>;
  get(id: string): Promise<WrappedKey | undefined>;
  ofOrganization(organizationId: string): Promise<WrappedKey | undefined>;
  /** Returns the ids of all master keys that wrap a data key. */
  masterKeyIds(): Promise<string[]>;
  /** Returns the data keys wrapped by that master key. */
  wrappedBy(masterKeyId: string): Promise<WrappedKey[]>;
  rewrap(id: string, masterKeyId: string, wrapped: Buffer): Promise<void>;
  /** Returns the data keys whose label allows secrets in format 1. */
  inFormat1(): Promise<WrappedKey[]>;
  /**
   * Stores a rewrapped key, unless it was changed in the meantime or still seals a secret in format
   * 1. Returns whether it was stored.
   */
  migrateFormat1(key: WrappedKey, wrapped: Buffer): Promise<boolean>;
}

/**
 * State of a request with an `Idempotency-Key`: `mine` to process, `done` with a stored response,
 * `in_flight`, or `mismatch` if the key belongs to another request.
 */
export type Claim =
  | { state: 'mine' }
  | { state: 'done'; response: string }
  | { state: 'in_flight' }
  | { state: 'mismatch' };

export interface IdempotencyKeys {
  /**
   * Claims the key for `owner` until `lockedUntil`. After that, another owner may take over a claim
   * without a response.
   */
  claim(request: {
    organizationId: string;
    key: string;
    digest: Buffer;
    owner: string;
    now: Date;
    lockedUntil: Date;
    expiresAt: Date;
  }): Promise<Claim>;
  /**
   * Stores the response. Returns false if the owner has lost the key; its transaction must not
   * commit then.
   */
  complete(organizationId: string, key: string, owner: string, response: string): Promise<boolean>;
  /** Releases the key of a request that had no effect. */
  release(organizationId: string, key: string, owner: string): Promise<void>;
  /** Removes expired keys. */
  sweep(now: Date): Promise<void>;
}

/** The tables, outside or inside a transaction. */
export interface Tables {
  readonly organizations: Organizations;
  readonly apiKeys: ApiKeys;
  readonly roles: Roles;
  readonly users: Users;
  readonly memberships: Memberships;
  readonly invitations: Invitations;
  readonly ssoConnections: SsoConnections;
  readonly signIns: SignIns;
  readonly featureOverrides: FeatureOverrides;
  readonly connectors: Connectors;
  readonly consents: Consents;
  readonly secrets: Secrets;
  readonly organizationSecrets: OrganizationSecrets;
  readonly resourceShares: ResourceShares;
  readonly sharePolicies: SharePolicies;
  readonly shareViews: ShareViews;
  readonly dataKeys: DataKeys;
  readonly transforms: Transforms;
  readonly pipelines: Pipelines;
  readonly pipelineCounts: PipelineCounts;
  readonly edgeSchemas: EdgeSchemaReader;
  readonly keyValues: KeyValues;
  readonly alertRules: AlertRules;
  readonly alerts: Alerts;
  readonly alertEvents: AlertEvents;
  readonly usage: Usage;
  readonly storageTypeCosts: StorageTypeCosts;
  readonly billingAccounts: BillingAccounts;
  readonly billingMembers: BillingMembers;
  readonly billingProducts: BillingProducts;
  readonly billingSubscriptions: BillingSubscriptions;
  readonly billingRoles: BillingRoles;
  readonly billingRoleUsers: BillingRoleUsers;
  readonly quotas: Quotas;
  readonly auditLogs: AuditLogs;
  readonly idempotency: IdempotencyKeys;
}

/** Names of the methods that change configured resources. */
export type WriteName = 'insert' | 'update' | 'remove' | 'put' | 'refer' | 'touch';

/**
 * The tables without the methods that change configured resources. Routes have only these outside of
 * a transaction, because a change and its row of the audit log must be committed together.
 */
export type ReadTables = { readonly [T in keyof Tables]: Omit<Tables[T], WriteName> };

export interface Store extends Tables {
  /**
   * Runs `work` in a transaction. Inside it, use only the given tables: PGlite has one connection,
   * so a query on the store itself would wait for the transaction that issued it.
   */
  transaction<T>(work: (tables: Tables) => Promise<T>): Promise<T>;
  /** Like `transaction`, but runs one at a time across all replicas for each `name`. */
  exclusive<T>(name: string, work: (tables: Tables) => Promise<T>): Promise<T>;
  readonly locks: Locks;
  /**
   * Returns the number of the newest migration in the database. Rejects if the database does not
   * respond.
   */
  schemaVersion(): Promise<number>;
  close(): Promise<void>;
}
