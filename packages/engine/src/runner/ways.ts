import { compileCondition, type Predicate } from '../conditions/compile-condition.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { routesOf, type Route } from '../pipeline/routes.js';
import { MAX_BATCH_BYTES, type Batch } from '../records/batch.js';
import { isRecord } from '../records/record.js';
import type { Transform } from '../transforms/compile-transform.js';
import { TransformRefusal } from '../transforms/refusal.js';
import type { Counters } from './counters.js';
import type { DeadLetter } from './dead-letters.js';

interface WayStep {
  passes: Predicate | 'always' | 'never';
  nodeId: string;
  /** Absent at the output. */
  transform?: Transform;
  /** Records pass a node once for each way over it; they are counted, and refused, on the first. */
  first: boolean;
}

/** One way to an output, ready to be gone. */
export interface Way {
  /** Tells the ways to one output apart; empty for the first. */
  readonly name: string;
  readonly steps: readonly WayStep[];
}

/** The ways to each output, by its node id. @param transforms by node id; a way over a node without one is left out */
export function compileWays(
  definition: PipelineDefinition,
  transforms: ReadonlyMap<string, Transform>,
): Map<string, Way[]> {
  const seen = new Set<string>();
  const ways = new Map<string, Way[]>();
  for (const [outputId, routes] of routesOf(definition))
    ways.set(
      outputId,
      routes.map((route, index) => compileWay(route, index, transforms, seen)),
    );
  return ways;
}

function compileWay(route: Route, index: number, transforms: ReadonlyMap<string, Transform>, seen: Set<string>): Way {
  let prefix = '';
  const steps = route.map(({ edge, node }) => {
    // The same beginning of a way is gone once for every output that lies behind it.
    prefix += `${edge.id} `;
    const first = !seen.has(prefix);
    seen.add(prefix);
    const transform = transforms.get(node.id);
    return {
      passes: compileCondition(edge.conditions),
      nodeId: node.id,
      first,
      ...(transform && { transform }),
    };
  });
  return { name: index === 0 ? '' : String(index), steps };
}

export interface Passage {
  counters: Counters;
  now: number;
  /** Records that a transform refused. */
  refuse(letters: readonly DeadLetter[]): void;
}

/** What of a batch arrives at the output of a way; `undefined`: nothing. */
export function goWay(way: Way, batch: Batch, passage: Passage): Batch | undefined {
  let rest = batch;
  for (const step of way.steps) {
    if (step.passes !== 'always' || step.transform) {
      const readable = onlyRecords(step, rest, passage);
      if (!readable) return undefined;
      rest = readable;
    }
    const chosen = choose(step, rest);
    if (!chosen) return undefined;
    rest = chosen;
    if (!step.transform) continue;
    if (step.first) passage.counters.add(step.nodeId, 'ingress', rest.lines.length, rest.bytes);
    const changed = change(step, step.transform, rest, passage);
    if (!changed) return undefined;
    rest = changed;
    if (step.first) passage.counters.add(step.nodeId, 'egress', rest.lines.length, rest.bytes);
  }
  return rest;
}

/** The batch without lines that are no JSON object: one of them must not hold up the others. */
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
        // As a text, so that the file of dead letters can be read.
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

function change(step: WayStep, transform: Transform, batch: Batch, passage: Passage): Batch | undefined {
  const lines: string[] = [];
  const kept: number[] = [];
  const letters: DeadLetter[] = [];
  for (const [index, record] of batch.records.entries()) {
    try {
      const line = JSON.stringify(transform(record, passage.now));
      if (Buffer.byteLength(line) > MAX_BATCH_BYTES)
        throw new TransformRefusal('too_large', 'The record grew too large.');
      lines.push(line);
      kept.push(index);
    } catch (error) {
      const reason = error instanceof TransformRefusal ? `${error.code}: ${error.message}` : 'transform_failed';
      letters.push({ nodeId: step.nodeId, reason, recordId: batch.recordId(index), line: batch.lines[index] ?? '{}' });
    }
  }
  if (letters.length > 0 && step.first) passage.refuse(letters);
  return kept.length === 0 ? undefined : batch.pick(kept).rewrite(lines);
}
