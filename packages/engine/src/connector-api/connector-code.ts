import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Egress } from '../egress/index.js';
import type { ActivityRecords } from './activity-records.js';
import type { AlertRecords } from './alert-records.js';
import type { AwsRoles } from './aws-roles.js';
import type { Clock } from './clock.js';
import type { Enrichment } from './enrichment.js';
import type { GrantedTokens } from './granted-tokens.js';
import type { Input } from './input.js';
import type { KeyValueTables } from './key-values.js';
import type { Output } from './output.js';
import type { ReplaceableSecrets } from './replaceable-secrets.js';
import type { Tester } from './tester.js';
import type { Receiver, RequestReceiver } from './receiver.js';

/** The dependencies of an input, output or enrichment, besides its configuration. */
export interface ConnectorContext {
  /** The connector type, with its catalog data. */
  type: ConnectorTypeData;
  /** The only network access a connector may use. */
  egress: Egress;
  clock: Clock;
  /**
   * Local directory that a file output may write to. Absent: the operator has not configured one.
   */
  filesFolder?: string;
  /**
   * Address and port that a push input listens on. Absent: it receives requests through the
   * service's HTTP server.
   */
  listen?: ListenAt;
  /** Key-value tables in the storage of the service. Absent: there is no storage. */
  keyValues?: KeyValueTables;
  /**
   * Local folders with the operator's files for lookups; the first one that has a file counts.
   * Absent: the operator has not configured one.
   */
  lookupFolders?: readonly string[];
  /** The alerts of the organization. Absent: no rules are evaluated. */
  alerts?: AlertRecords;
  /** The audit log of the organization. Absent: none is kept. */
  activity?: ActivityRecords;
  /**
   * The stored secrets, for vendors that replace them. Absent: nothing is stored, as in the test of
   * a connector that is not saved yet.
   */
  secrets?: ReplaceableSecrets;
  /** Tokens of connected accounts. Absent: no secret of the connector is one. */
  tokens?: GrantedTokens;
  /** Roles at AWS. Absent: the operator gave the service no identity there. */
  aws?: AwsRoles;
}

/** A local address and port reserved for one connector. */
export interface ListenAt {
  host: string;
  port: number;
  /** PEM. Absent: senders can't encrypt. */
  tls?: { key: string; cert: string };
}

/**
 * Creates an input without opening any connection.
 *
 * @param config validated against the type's schema, with secrets in plaintext
 * @throws ConnectorError `invalid_config`, permanent: the input can't run with these fields
 */
export type CreateInput = (config: ConnectorConfig, context: ConnectorContext) => Input;
/** Like `CreateInput`, for outputs. */
export type CreateOutput = (config: ConnectorConfig, context: ConnectorContext) => Output;
/** Like `CreateInput`, for enrichments. */
export type CreateEnrichment = (config: ConnectorConfig, context: ConnectorContext) => Enrichment;

/** The dependencies of a receiver, besides the configuration of its connector. */
export interface ReceiverContext extends Pick<ConnectorContext, 'type' | 'egress'> {
  clock: Pick<Clock, 'now'>;
  /** Returns whether a text is the connector's own token, in constant time. */
  isToken: (text: string) => boolean;
}

/**
 * Creates the receiver of one connector.
 *
 * @param config validated against the type's schema, with secrets in plaintext
 * @throws ConnectorError `invalid_config`, permanent
 */
export type CreateReceiver = (config: ConnectorConfig, context: ReceiverContext) => RequestReceiver;

/** The code of a connector type. */
export interface ConnectorCode {
  /** Absent: the type has no connection test, and the form shows no button. */
  testConnection?: Tester;
  /** Absent, for an input: the type has no runtime. */
  createInput?: CreateInput;
  /** Absent, for an output: the type has no runtime. */
  createOutput?: CreateOutput;
  /** Absent, for an enrichment: the type has no runtime. */
  createEnrichment?: CreateEnrichment;
  /** Handles HTTP requests for a push input. Absent: the service accepts none for this type. */
  receiver?: Receiver;
  /**
   * Handles HTTP requests for a push input, if its configuration decides who may send. Instead of
   * `receiver`.
   */
  createReceiver?: CreateReceiver;
  /** The input opens its own port: `ConnectorContext.listen`. */
  listens?: true;
  /** Scheme of the URL that names this port. Default `syslog`. */
  scheme?: string;
}
