export { createEmbeddedBus, type EmbeddedBus, type EmbeddedBusOptions } from './bus/embedded/embedded-bus.js';
export type { DiskState } from './bus/embedded/free-space.js';
export { isNatsUrl, type NatsSettings } from './bus/jetstream/nats-settings.js';
export {
  createMemoryRegistry,
  FencedError,
  type ConsumerPosition,
  type RegisteredConsumer,
  type RegisteredStream,
  type StreamRegistry,
} from './bus/jetstream/registry.js';
export type { Damage } from './bus/embedded/segments.js';
export {
  BusError,
  OVERFLOW_POLICIES,
  type Bus,
  type BusErrorCode,
  type ConsumerOptions,
  type ConsumerStats,
  type Delivery,
  type Lost,
  type OverflowPolicy,
  type Published,
  type PublishOptions,
  type StreamStats,
  type Waiting,
} from './bus/bus.js';
export {
  LEAF_TYPES,
  LOGICAL_OPERATORS,
  type LeafCondition,
  type LeafConfig,
  type LeafType,
  type LogicalCondition,
  type LogicalOperator,
} from './conditions/condition.js';
export { describeConditions, type ConditionInfo } from './conditions/describe-conditions.js';
export { isCondition, validateCondition } from './conditions/validate-condition.js';
export { checkPattern, compilePattern } from './conditions/pattern/compile-pattern.js';
export type { Committed, Coordinator, Cursor, Desired, Lease, Report } from './coordinator/coordinator.js';
export { createEmbeddedCoordinator, type EmbeddedCoordinatorOptions } from './coordinator/embedded-coordinator.js';
export { createFileStore } from './coordinator/file-store.js';
export { createMemoryStore } from './coordinator/memory-store.js';
export type { Store, Stored } from './coordinator/store.js';
export {
  COMPONENT_TYPES,
  type ComponentType,
  type Overflow,
  type PipelineDefinition,
  type PipelineEdge,
  type PipelineNode,
  type PipelineStatus,
} from './pipeline/definition.js';
export type { Problem } from './problem.js';
export { MAX_BUDGET_BYTES, MIN_BUDGET_BYTES } from './pipeline/overflow.js';
export { validatePipeline } from './pipeline/validate-pipeline.js';
export { batchId, createBatch, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, type Batch } from './connector-api/batch.js';
export { isRecord, type DataRecord, type JsonValue } from './connector-api/record.js';
export { mergeBatches } from './records/merged-batch.js';
export { splitLines, type BatchLimits, type BatchSource, type Split } from './records/split.js';
export type { ActivityRecords } from './connector-api/activity-records.js';
export type { AlertRecord, AlertRecords } from './connector-api/alert-records.js';
export { replaceFile, syncFolder } from './files/durable.js';
export { systemClock, type Clock } from './connector-api/clock.js';
export type { Amount, LetterCounts, NodeCounts } from './pipeline/counters.js';
export {
  ConnectorError,
  WRITTEN,
  type Appended,
  type AppendOptions,
  type Enrichment,
  type FailureKind,
  type Input,
  type NotStored,
  type Output,
  type Page,
  type PageInput,
  type PushInput,
  type Refusal,
  type Rejection,
  type Sink,
  type WriteResult,
} from './connector-api/index.js';
export type { LogEntry, NewLogEntry } from './connector-api/log-entry.js';
export type { Suspension } from './connector-api/suspension.js';
export type { Meter } from './pipeline/meter.js';
export { PipelineLog } from './pipeline/pipeline-log.js';
export { RecordSamples, type RecordSample } from './pipeline/record-samples.js';
export { EdgeSchemas } from './schema/edge-schemas.js';
export type { SchemaEvent, SchemaMode, SchemaState, SchemaTag, SchemaUpdate } from './schema/edge-schema.js';
export type { Fields, FieldState, JsonType, TypeState } from './schema/record-schema.js';
export { PipelineRunner, type Purged, type WaitingRecord } from './control/pipeline-runner.js';
export type { DeadLetters, StoredLetter } from './delivery/dead-letters.js';
export { createFolderLetters } from './delivery/folder-letters.js';
export type { NewLetter } from './delivery/letter-lines.js';
export type { LetterStats, LetterStorage, NodeLetters } from './delivery/letter-storage.js';
export { hasRoomFor, type LetterBounds } from './delivery/letter-store.js';
export type { Backlog, Losses } from './control/observer.js';
export {
  DEFAULT_LIMITS,
  type Components,
  type MissingPart,
  type RunnerLimits,
  type RunnerOptions,
} from './delivery/runner-options.js';
export {
  observationIn,
  stateOf,
  type NodeState,
  type Observation,
  type PipelineState,
} from './pipeline/pipeline-state.js';
export { tryEnrichment, type TryEnrichmentOptions } from './enrichments/try-enrichment.js';
export { readPipelineState } from './control/read-pipeline-state.js';
export { statusOf, type Facts } from './pipeline/status.js';
export { MUTATED_TYPES, TIMESTAMP_FORMATS, type Operation, type TransformConfig } from './transforms/operation.js';
export { parseTransform, readTransform } from './transforms/parse-transform.js';
export { describeOperation, OPERATION_TYPES, type OperationInfo } from './transforms/operations/index.js';
export { tryCondition, tryTransform, type Tried, type TryOptions } from './transforms/sandbox.js';
export { referredSecrets } from './transforms/secret-references.js';
