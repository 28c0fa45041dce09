/**
 * What a connector implements, and what it may use: the only part of the engine that a package of
 * connectors imports.
 */
export { withDeadline } from '../egress/deadline.js';
export type { Egress, EgressInit, EgressTarget } from '../egress/egress.js';
export { EgressError, type EgressReason } from '../egress/error.js';
export { isSendable } from '../egress/request.js';
export { secure } from '../egress/secure.js';
export { isErrno } from '../files/is-errno.js';
export { LineFile } from '../files/line-file.js';
export type { ActivityRecords } from './activity-records.js';
export type { AlertRecord, AlertRecords } from './alert-records.js';
export type { AwsKeys, AwsRoles } from './aws-roles.js';
export { batchId, createBatch, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, type Batch } from './batch.js';
export { systemClock, type Clock } from './clock.js';
export type {
  ConnectorCode,
  ConnectorContext,
  CreateEnrichment,
  CreateInput,
  CreateOutput,
  CreateReceiver,
  ListenAt,
  ReceiverContext,
} from './connector-code.js';
export { ConnectorError, failureOf, type Failure, type FailureKind } from './connector-error.js';
export { encodeLines, type Around } from './encode-lines.js';
export {
  MAX_RESULT_BYTES,
  type Enrichment,
  type EnrichmentData,
  type EnrichmentResult,
  type LookedUp,
} from './enrichment.js';
export type {
  Appended,
  AppendOptions,
  Input,
  NotStored,
  Page,
  PageInput,
  PushInput,
  Sink,
  Unreadable,
} from './input.js';
export * from './key-path.js';
export * from './lookup-key.js';
export type { KeyValueEntry, KeyValueReader, KeyValueTable, KeyValueTables } from './key-values.js';
export type { LogEntry, NewLogEntry } from './log-entry.js';
export {
  MAX_REFUSALS,
  WRITTEN,
  type Batching,
  type Ordering,
  type Output,
  type Refusal,
  type Rejection,
  type RetryLimits,
  type WriteResult,
} from './output.js';
export {
  BodyError,
  RequestError,
  type Receiver,
  type ReceiverResponse,
  type RequestHead,
  type RequestReceiver,
  type RequestRecords,
  type RequestResponse,
  type RequestStatus,
} from './receiver.js';
export type { GrantedTokens } from './granted-tokens.js';
export type { Exchanged, ReplaceableSecret, ReplaceableSecrets } from './replaceable-secrets.js';
export { isRecord, type DataRecord, type JsonValue } from './record.js';
export type { Suspension } from './suspension.js';
export type * from './tester.js';
