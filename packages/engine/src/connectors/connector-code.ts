import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Egress } from '../egress/index.js';
import type { Clock } from '../runner/clock.js';
import type { Input, Output } from '../runner/ends.js';
import type { Tester } from './connection-test/tester.js';
import type { Receiver } from './receiver.js';

/** What an input or output is given beside its configuration. */
export interface ConnectorContext {
  /** Its type, with the type's own data. */
  type: ConnectorTypeData;
  /** The only way to the network. */
  egress: Egress;
  clock: Clock;
  /** Where a file output may write, on this machine; absent: the operator has not opened a folder. */
  filesFolder?: string;
  /** Where a pushed input listens by itself; absent: it is called through the service's own address. */
  listen?: ListenAt;
}

/** A place of this machine that belongs to one connector. */
export interface ListenAt {
  host: string;
  port: number;
  /** PEM. Absent: senders can't encrypt. */
  tls?: { key: string; cert: string };
}

/**
 * Makes an input of a configuration with its secrets in clear, which has passed the type's schema. Opens nothing yet.
 * @throws EndError `invalid_config`, permanent: the fields don't make up something to run
 */
export type CreateInput = (config: ConnectorConfig, context: ConnectorContext) => Input;
/** As `CreateInput`, for outputs. */
export type CreateOutput = (config: ConnectorConfig, context: ConnectorContext) => Output;

/** What there is in code for a connector type. */
export interface ConnectorCode {
  /** Absent: the type has no connection test, and the form shows no button. */
  testConnection?: Tester;
  /** Absent, for an input: the type has no runtime. */
  createInput?: CreateInput;
  /** Absent, for an output: the type has no runtime. */
  createOutput?: CreateOutput;
  /** Absent: nothing is sent to this type through the service's own address. */
  receiver?: Receiver;
  /** It listens at a place of its own: `listen` of its context. */
  listens?: true;
}
