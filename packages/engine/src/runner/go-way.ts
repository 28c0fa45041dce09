import { MAX_BATCH_BYTES, type Batch } from '../records/batch.js';
import { deriveBatches, type Derived } from '../records/derive-batches.js';
import { isRecord } from '../records/record.js';
import type { BatchStage, Transform } from '../transforms/compile-transform.js';
import { TransformRefusal } from '../transforms/refusal.js';
import type { Counters } from './counters.js';
import type { DeadLetter } from './dead-letters.js';
import { letter } from './deliver.js';
import type { Way, WayStep } from './ways.js';

export interface Passage {
  counters: Counters;
  now: number;
  /** Aborted when the run should abandon its current work. */
  aborted: AbortSignal;
  /** Receives the records that a transform rejected. */
  refuse(letters: readonly DeadLetter[]): void;
}

/** Maximum output of one stage for one batch, in bytes. */
const STEP_BYTES = 32 * 1024 * 1024;
/** Maximum processing time of one stage for one batch, in milliseconds. */
const STEP_MS = 10_000;
const TOO_LARGE = new TransformRefusal('too_large', 'The record grew too large.');

/**
 * Applies a path to a batch and returns the batches that reach the output, or `undefined` if
 * aborted.
 * @throws {EndError} of kind `retry`
 */
export async function goWay(way: Way, batch: Batch, passage: Passage): Promise<readonly Batch[] | undefined> {
  let parts: readonly Batch[] = [batch];
  for (const step of way.steps) {
    const after: Batch[] = [];
    let room = STEP_BYTES;
    for (const part of parts) {
      const chosen = enter(step, part, passage);
      if (!chosen) continue;
      const { stage } = step;
      let done: readonly Batch[] | undefined = [chosen];
      if (stage?.kind === 'each') done = change(step, stage.apply, chosen, passage);
      else if (stage) done = await expand(step, stage, chosen, room, passage);
      if (!done) return undefined;
      for (const each of done) {
        if (step.leaves && step.first) passage.counters.add(step.nodeId, 'egress', each.lines.length, each.bytes);
        room -= each.bytes;
        after.push(each);
      }
    }
    parts = after;
  }
  return parts;
}

/** Selects the records that enter a stage, and counts them. */
function enter(step: WayStep, batch: Batch, passage: Passage): Batch | undefined {
  const looked = step.passes !== 'always' || step.stage ? onlyRecords(step, batch, passage) : batch;
  const chosen = looked && choose(step, looked);
  if (chosen && step.enters && step.first)
    passage.counters.add(step.nodeId, 'ingress', chosen.lines.length, chosen.bytes);
  return chosen;
}

/**
 * Returns the batch without the lines that are not JSON objects: one invalid line must not block
 * the others.
 */
function onlyRecords(step: WayStep, batch: Batch, passage: Passage): Batch | undefined {
  try {
    return batch.records.length > 0 ? batch : undefined;
  } catch {
    const kept = [...batch.lines.keys()].filter((index) => isRecordText(batch.lines[index] ?? ''));
    const letters = [...batch.lines.keys()]
      .filter((index) => !kept.includes(index))
      .map((index) => ({
        nodeId: step.nodeId,
        reason: 'no_json_object',
        recordId: batch.recordId(index),
        // As a JSON string, so that the dead-letter file stays valid.
        line: JSON.stringify(batch.lines[index]),
      }));
    if (step.first) passage.refuse(letters);
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

function choose({ passes }: WayStep, batch: Batch): Batch | undefined {
  if (passes === 'always') return batch;
  if (passes === 'never') return undefined;
  const indexes = [...batch.records.keys()].filter((index) => passes(batch.records[index] ?? {}));
  return indexes.length === 0 ? undefined : batch.pick(indexes);
}

function change(step: WayStep, transform: Transform, batch: Batch, passage: Passage): readonly Batch[] {
  const lines: string[] = [];
  const kept: number[] = [];
  const letters: DeadLetter[] = [];
  for (const [index, record] of batch.records.entries()) {
    try {
      const line = JSON.stringify(transform(record, passage.now));
      if (Buffer.byteLength(line) > MAX_BATCH_BYTES) throw TOO_LARGE;
      lines.push(line);
      kept.push(index);
    } catch (error) {
      letters.push(letter(step.nodeId, batch, index, reasonOf(error)));
    }
  }
  if (letters.length > 0 && step.first) passage.refuse(letters);
  return kept.length === 0 ? [] : [batch.pick(kept).rewrite(lines)];
}

async function expand(
  step: WayStep,
  stage: BatchStage,
  batch: Batch,
  maxBytes: number,
  passage: Passage,
): Promise<readonly Batch[] | undefined> {
  const outcomes = await stage.run(batch.lines, { signal: passage.aborted, maxBytes, maxMs: STEP_MS });
  if (!outcomes) return undefined;
  const derived: Derived[] = [];
  const letters: DeadLetter[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (typeof outcome === 'string') letters.push(letter(step.nodeId, batch, index, outcome));
    else if (outcome.some((line) => Buffer.byteLength(line) > MAX_BATCH_BYTES))
      letters.push(letter(step.nodeId, batch, index, reasonOf(TOO_LARGE)));
    else derived.push({ index, lines: outcome });
  }
  if (letters.length > 0 && step.first) passage.refuse(letters);
  return deriveBatches(batch, derived);
}

const reasonOf = (error: unknown): string =>
  error instanceof TransformRefusal ? `${error.code}: ${error.message}` : 'transform_failed';
