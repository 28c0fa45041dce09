export { createEmbeddedBus, type EmbeddedBusOptions } from './bus/embedded/embedded-bus.js';
export type { Damage } from './bus/embedded/segments.js';
export {
  BusError,
  type Bus,
  type BusErrorCode,
  type Delivery,
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
export { isCondition, validateCondition } from './conditions/validate-condition.js';
export type { Committed, Coordinator, Cursor, Desired, Lease, Report } from './coordinator/coordinator.js';
export { createEmbeddedCoordinator, type EmbeddedCoordinatorOptions } from './coordinator/embedded-coordinator.js';
export { createFileStore } from './coordinator/file-store.js';
export { createMemoryStore } from './coordinator/memory-store.js';
export type { Store, Stored } from './coordinator/store.js';
export { auditEvent } from './ends/audit-event.js';
export { createDevNullOutput } from './ends/dev-null-output.js';
export { createFileOutput, type FileOutputOptions } from './ends/file-output.js';
export { createSyntheticInput, type SyntheticInputOptions } from './ends/synthetic-input.js';
export {
  COMPONENT_TYPES,
  type ComponentType,
  type PipelineDefinition,
  type PipelineEdge,
  type PipelineNode,
  type PipelineStatus,
} from './pipeline/definition.js';
export type { Problem } from './pipeline/problem.js';
export { validatePipeline } from './pipeline/validate-pipeline.js';
export { batchId, createBatch, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, type Batch } from './records/batch.js';
export { isRecord, type DataRecord, type JsonValue } from './records/record.js';
export { splitLines, type BatchLimits, type BatchSource, type Split } from './records/split.js';
export { replaceFile } from './files/durable.js';
export { systemClock, type Clock } from './runner/clock.js';
export type { Amount, NodeCounts } from './runner/counters.js';
export {
  EndError,
  WRITTEN,
  type Appended,
  type AppendOptions,
  type FailureKind,
  type Input,
  type Output,
  type Page,
  type PageInput,
  type PushInput,
  type Refusal,
  type Sink,
  type WriteResult,
} from './runner/ends.js';
export { PipelineLog, type LogEntry, type NewLogEntry } from './runner/pipeline-log.js';
export { PipelineRunner } from './runner/pipeline-runner.js';
export type { Components, MissingPart, RunnerLimits, RunnerOptions } from './runner/runner-options.js';
export { observationIn, stateOf, type NodeState, type PipelineState } from './runner/pipeline-state.js';
export { readPipelineState } from './runner/read-pipeline-state.js';
export { statusOf, type Facts } from './runner/status.js';
export {
  MUTATED_TYPES,
  TIMESTAMP_FORMATS,
  type Operation,
  type OperationName,
  type TransformConfig,
} from './transforms/operation.js';
export { parseTransform } from './transforms/parse-transform.js';
