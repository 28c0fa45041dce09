/**
 * What the service keeps, and the questions it asks. One implementation (`create-store.ts`) runs on PGlite and on PostgreSQL.
 * Every question about a connector, secret or key names the organization, so that a foreign id reads like an unknown one.
 */
import type { ConnectorKind } from '@connector-frame/catalog/types';
import type { InferSelectModel } from 'drizzle-orm';
import type { apiKeys, connectors, dataKeys, organizations, pipelines, secrets, transforms } from './tables.js';

/** An organization. One without `parentId` is a parent; the others are its teams. */
export type Organization = InferSelectModel<typeof organizations>;
/** A data key, wrapped by the master key `masterKeyId`. `organizationId` is null for the service's own. */
export type WrappedKey = InferSelectModel<typeof dataKeys>;
/** An API key; only the HMAC of its text is known. */
export type ApiKey = InferSelectModel<typeof apiKeys>;
/** A configured connector without its secrets. `version` grows by one with each change. */
export type Connector = InferSelectModel<typeof connectors>;
/** One secret as it lies in the database. */
export type StoredSecret = InferSelectModel<typeof secrets>;
/** What may be told about a secret. */
export type SecretNote = Pick<StoredSecret, 'id' | 'connectorId' | 'field' | 'name' | 'updatedAt'>;

/** A connector and all of its secrets, as they were at one moment. */
export interface ConnectorSecrets {
  connector: Connector;
  secrets: StoredSecret[];
}

/** A secret that was sealed again: stored only if it still is as it was read. */
export interface Reseal {
  id: string;
  before: Buffer;
  sealed: Buffer;
}

/** A pipeline: its nodes, and the edges between them. */
export type Pipeline = InferSelectModel<typeof pipelines>;
/** A transform, as pipelines hold it by its id. */
export type Transform = InferSelectModel<typeof transforms>;

export interface Page {
  limit: number;
  offset: number;
}

/** Rows in the order they were made, and how many there are in all. */
export interface Rows<T> {
  rows: T[];
  total: number;
}

export interface Organizations {
  insert(organization: Organization): Promise<void>;
  get(id: string): Promise<Organization | undefined>;
  /** Teams of a parent. */
  teams(parentId: string, page: Page): Promise<Rows<Organization>>;
  /** The oldest parent of that name, or with `parentId` the oldest team of that name. */
  named(name: string, parentId?: string): Promise<Organization | undefined>;
  update(
    id: string,
    change: Partial<Pick<Organization, 'name' | 'allowedOrigins'>>,
    at: Date,
  ): Promise<Organization | undefined>;
  /** Removes it with all it owns; its data key goes too, so no backup of a ciphertext can be read with a later dump. */
  remove(id: string): Promise<void>;
  /** Whether any organization allows frames on pages of this origin. */
  allowsOrigin(origin: string): Promise<boolean>;
}

export interface ApiKeys {
  insert(key: ApiKey): Promise<void>;
  get(id: string): Promise<ApiKey | undefined>;
  byDigest(digest: Buffer): Promise<ApiKey | undefined>;
  list(organizationId: string, page: Page): Promise<Rows<ApiKey>>;
  /** Undefined when the organization has no such key. A second revocation keeps the first time. */
  revoke(organizationId: string, id: string, at: Date): Promise<ApiKey | undefined>;
}

export interface Connectors {
  insert(connector: Connector): Promise<void>;
  get(organizationId: string, kind: ConnectorKind, id: string): Promise<Connector | undefined>;
  /** One of either kind with its secrets. */
  withSecrets(organizationId: string, id: string): Promise<ConnectorSecrets | undefined>;
  /** Reads it and holds it until the transaction ends. */
  lock(organizationId: string, kind: ConnectorKind, id: string): Promise<Connector | undefined>;
  /** Reads several of either kind, and holds them until the transaction ends. All that hold more than one begin at the same end. */
  lockAll(organizationId: string, ids: readonly string[]): Promise<Connector[]>;
  /** Those of `ids` that are there: until the transaction ends they stay, though they may change. */
  hold(organizationId: string, ids: readonly string[]): Promise<Pick<Connector, 'id' | 'kind'>[]>;
  list(organizationId: string, kind: ConnectorKind, page: Page): Promise<Rows<Connector>>;
  update(connector: Connector): Promise<void>;
  remove(id: string): Promise<void>;
  /** One of any organization: asked only for who has shown that connector's own token. */
  ofToken(id: string): Promise<Connector | undefined>;
  /** A port of this range that no connector has, the one that has been free for longest; the transaction is to store it. */
  takePort(range: { first: number; last: number }): Promise<number | undefined>;
  /** Inputs of these types, of any organization, that have no port. */
  withoutPort(types: readonly string[]): Promise<Connector[]>;
}

export interface Secrets {
  get(organizationId: string, id: string): Promise<StoredSecret | undefined>;
  ofConnector(connectorId: string): Promise<StoredSecret[]>;
  /** What may be told about the secrets of several connectors; never the sealed value. */
  notes(connectorIds: readonly string[]): Promise<SecretNote[]>;
  /** Inserts each, or replaces what its connector had in that field. */
  put(secrets: readonly StoredSecret[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** Stores values sealed again; one that was changed meanwhile keeps the change. Takes the rows out of format 1. */
  reseal(reseals: readonly Reseal[]): Promise<void>;
  /** Connectors of any organization that have secrets in format 1, in the order of their ids, from the one after `after` on. */
  inFormat1(after: string, limit: number): Promise<ConnectorSecrets[]>;
}

export interface Transforms {
  insert(transform: Transform): Promise<void>;
  get(organizationId: string, id: string): Promise<Transform | undefined>;
  /** Reads it and holds it until the transaction ends. */
  lock(organizationId: string, id: string): Promise<Transform | undefined>;
  /** Those of `ids` that are there: until the transaction ends they stay, though they may change. */
  hold(organizationId: string, ids: readonly string[]): Promise<Pick<Transform, 'id'>[]>;
  list(organizationId: string, page: Page): Promise<Rows<Transform>>;
  update(transform: Transform): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface Pipelines {
  /** Its components must be held. */
  insert(pipeline: Pipeline): Promise<void>;
  get(organizationId: string, id: string): Promise<Pipeline | undefined>;
  /** Reads it and holds it until the transaction ends. */
  lock(organizationId: string, id: string): Promise<Pipeline | undefined>;
  /** @param componentId only those in which this connector or transform stands */
  list(organizationId: string, page: Page, componentId?: string): Promise<Rows<Pipeline>>;
  /** All in which a connector or transform stands, oldest first. */
  using(organizationId: string, componentId: string): Promise<Pipeline[]>;
  /** Ids of all pipelines of an organization. */
  ids(organizationId: string): Promise<string[]>;
  /** Where other components stand in it than `before`, they must be held. */
  update(pipeline: Pipeline, before: Pipeline): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface DataKeys {
  /** Does nothing when there is a key of that id. */
  insert(key: WrappedKey): Promise<void>;
  get(id: string): Promise<WrappedKey | undefined>;
  ofOrganization(organizationId: string): Promise<WrappedKey | undefined>;
  /** Ids of all master keys that wrap something here. */
  masterKeyIds(): Promise<string[]>;
  /** Keys wrapped by that master key. */
  wrappedBy(masterKeyId: string): Promise<WrappedKey[]>;
  rewrap(id: string, masterKeyId: string, wrapped: Buffer): Promise<void>;
  /** Keys whose label says that secrets in format 1 may be sealed with them. */
  inFormat1(): Promise<WrappedKey[]>;
  /** Stores a key wrapped again, unless it was changed meanwhile or a secret in format 1 is sealed with it. Returns whether it did. */
  leaveFormat1(key: WrappedKey, wrapped: Buffer): Promise<boolean>;
}

/** How a request with an `Idempotency-Key` stands: `mine` to do, answered before, being answered, or another request's key. */
export type Claim =
  { state: 'mine' } | { state: 'done'; answer: string } | { state: 'in_flight' } | { state: 'mismatch' };

export interface IdempotencyKeys {
  /** Takes the key for `owner` until `lockedUntil`; after that, unanswered, another may take it over. */
  claim(request: {
    organizationId: string;
    key: string;
    digest: Buffer;
    owner: string;
    now: Date;
    lockedUntil: Date;
    expiresAt: Date;
  }): Promise<Claim>;
  /** Keeps the answer; false when the owner lost the key meanwhile, and then its transaction must not commit. */
  complete(organizationId: string, key: string, owner: string, answer: string): Promise<boolean>;
  /** Gives the key back: nothing has happened. */
  release(organizationId: string, key: string, owner: string): Promise<void>;
  /** Forgets what has expired. */
  sweep(now: Date): Promise<void>;
}

/** The tables, outside or inside a transaction. */
export interface Tables {
  readonly organizations: Organizations;
  readonly apiKeys: ApiKeys;
  readonly connectors: Connectors;
  readonly secrets: Secrets;
  readonly dataKeys: DataKeys;
  readonly transforms: Transforms;
  readonly pipelines: Pipelines;
  readonly idempotency: IdempotencyKeys;
}

export interface Store extends Tables {
  /**
   * All or nothing. Inside, use only the tables handed in: PGlite has one connection, and a question to the store itself
   * would wait for the transaction that asks it.
   */
  transaction<T>(work: (tables: Tables) => Promise<T>): Promise<T>;
  /** As `transaction`, one at a time over all replicas for each `name`. */
  exclusive<T>(name: string, work: (tables: Tables) => Promise<T>): Promise<T>;
  /** Number of the newest migration in the database; throws when the database does not answer. */
  schemaVersion(): Promise<number>;
  close(): Promise<void>;
}
