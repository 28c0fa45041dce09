import type { Batch } from '../connector-api/batch.js';
import { deriveBatches, type Derived } from '../records/derive-batches.js';
import { isRecord } from '../connector-api/record.js';
import type { BatchStage, EachStage } from '../transforms/compile-transform.js';
import { applyToRecord, limited, reasonOf } from '../transforms/run-stages.js';
import type { Counters } from '../pipeline/counters.js';
import type { RecordSamples } from '../pipeline/record-samples.js';
import type { EdgeSchemas } from '../schema/edge-schemas.js';
import type { DeadLetter } from './dead-letters.js';
import { deadLetter } from './deliver.js';
import type { Path, PathStage } from './paths.js';

export interface PathContext {
  counters: Counters;
  samples: RecordSamples;
  schemas: EdgeSchemas;
  now: number;
  /** Aborted when the run should abandon its current work. */
  aborted: AbortSignal;
  /** Receives the records that a transform rejected. */
  reject(rejected: readonly DeadLetter[]): void;
}

/** Maximum output of one stage for one batch, in bytes. */
const STAGE_BYTES = 32 * 1024 * 1024;
/** Maximum processing time of one stage for one batch, in milliseconds. */
const STAGE_MS = 10_000;

/**
 * Applies a path to a batch and returns the batches that reach the output, or `undefined` if
 * aborted.
 * @throws {ConnectorError} of kind `retry`
 */
export async function applyPath(path: Path, batch: Batch, context: PathContext): Promise<readonly Batch[] | undefined> {
  let parts: readonly Batch[] = [batch];
  for (const stage of path.stages) {
    const after: Batch[] = [];
    let budget = STAGE_BYTES;
    for (const part of parts) {
      const passing = enter(stage, part, context);
      if (!passing) continue;
      const { operation } = stage;
      let done: readonly Batch[] | undefined = [passing];
      if (operation?.kind === 'each') done = mapRecords(stage, operation, passing, context);
      else if (operation) done = await expand(stage, operation, passing, budget, context);
      if (!done) return undefined;
      for (const each of done) {
        if (stage.leaves && stage.first) {
          context.counters.add(stage.nodeId, 'egress', each.lines.length, each.bytes);
          context.samples.offer(stage.nodeId, each.lines);
        }
        budget -= each.bytes;
        after.push(each);
      }
    }
    parts = after;
  }
  return parts;
}

/** Selects the records that enter a stage, and counts them. */
function enter(stage: PathStage, batch: Batch, context: PathContext): Batch | undefined {
  const records = stage.passes !== 'always' || stage.operation ? onlyRecords(stage, batch, context) : batch;
  const passing = records && filter(stage, records);
  if (passing && stage.first) observe(stage, passing, context);
  if (passing && stage.enters && stage.first)
    context.counters.add(stage.nodeId, 'ingress', passing.lines.length, passing.bytes);
  return passing;
}

function observe({ edgeId }: PathStage, batch: Batch, { schemas }: PathContext): void {
  if (edgeId === undefined || !schemas.has(edgeId)) return;
  try {
    schemas.observe(edgeId, batch.records);
  } catch {
    // A line that is no JSON: what becomes of it is not for the observer to decide.
  }
}

/**
 * Returns the batch without the lines that are not JSON objects: one invalid line must not block
 * the others.
 */
function onlyRecords(stage: PathStage, batch: Batch, context: PathContext): Batch | undefined {
  try {
    return batch.records.length > 0 ? batch : undefined;
  } catch {
    const kept = [...batch.lines.keys()].filter((index) => isRecordText(batch.lines[index] ?? ''));
    const rejected = [...batch.lines.keys()]
      .filter((index) => !kept.includes(index))
      .map((index) => ({
        nodeId: stage.nodeId,
        reason: 'no_json_object',
        recordId: batch.recordId(index),
        // As a JSON string, so that the dead-letter file stays valid.
        line: JSON.stringify(batch.lines[index]),
      }));
    if (stage.first) context.reject(rejected);
    return kept.length === 0 ? undefined : batch.pick(kept);
  }
}

function isRecordText(line: string): boolean {
  try {
    return isRecord(JSON.parse(line));
  } catch {
    return false;
  }
}

function filter({ passes }: PathStage, batch: Batch): Batch | undefined {
  if (passes === 'always') return batch;
  if (passes === 'never') return undefined;
  const indexes = [...batch.records.keys()].filter((index) => passes(batch.records[index] ?? {}));
  return indexes.length === 0 ? undefined : batch.pick(indexes);
}

function mapRecords(stage: PathStage, operation: EachStage, batch: Batch, context: PathContext): readonly Batch[] {
  const lines: string[] = [];
  const kept: number[] = [];
  const rejected: DeadLetter[] = [];
  for (const [index, record] of batch.records.entries()) {
    try {
      const line = applyToRecord(operation, record, { now: context.now, recordId: batch.recordId(index) });
      if (line === undefined) continue;
      lines.push(line);
      kept.push(index);
    } catch (error) {
      rejected.push(deadLetter(stage.nodeId, batch, index, reasonOf(error)));
    }
  }
  if (rejected.length > 0 && stage.first) context.reject(rejected);
  return kept.length === 0 ? [] : [batch.pick(kept).rewrite(lines)];
}

async function expand(
  stage: PathStage,
  operation: BatchStage,
  batch: Batch,
  maxBytes: number,
  context: PathContext,
): Promise<readonly Batch[] | undefined> {
  const recordId = (index: number): string => batch.recordId(index);
  const input = { lines: batch.lines, records: batch.records, recordId, now: context.now };
  const outcomes = await operation.run(input, { signal: context.aborted, maxBytes, maxMs: STAGE_MS });
  if (!outcomes) return undefined;
  const derived: Derived[] = [];
  const rejected: DeadLetter[] = [];
  for (const [index, given] of outcomes.entries()) {
    const outcome = limited(given);
    if (typeof outcome === 'string') rejected.push(deadLetter(stage.nodeId, batch, index, outcome));
    else derived.push({ index, lines: outcome });
  }
  if (rejected.length > 0 && (stage.first || operation.varies)) context.reject(rejected);
  return deriveBatches(batch, derived);
}
