import { compileCondition, type Predicate } from '../conditions/compile-condition.js';
import { isRecord } from '../connector-api/record.js';
import { Problems } from '../problem.js';
import type {
  BatchStage,
  CompiledTransform,
  EachStage,
  ElseAction,
  Operation,
  ResolveSecret,
  Transform,
  TransformConfig,
} from './operation.js';
import { operationType } from './operations/index.js';
import { runStages } from './run-stages.js';

export type { BatchStage, Bounds, CompiledTransform, EachStage, Transform } from './operation.js';

export interface CompileOptions {
  /** Returns the values of secrets that operations refer to. */
  resolveSecret?: ResolveSecret | undefined;
}

/**
 * Compiles a transform.
 * @throws {TypeError} for an operation stored by a later release
 * @throws {ConnectorError} `secret_unreadable`: a secret that an operation needs is missing
 */
export function compileTransform(config: TransformConfig, { resolveSecret }: CompileOptions = {}): CompiledTransform {
  const compiled = config.operations.map((operation) => compileOperation(operation, resolveSecret));
  const holds = compileCondition(config.conditions);
  if (holds === 'always') return joined(compiled);
  const matches: Predicate = holds === 'never' ? () => false : holds;
  return conditional(joined(compiled), matches, config.else_action ?? 'bypass');
}

function compileOperation(
  { operation, arguments: given = {}, secrets }: Operation,
  resolveSecret: ResolveSecret | undefined,
): Transform | BatchStage {
  const problems = new Problems();
  const compile = isRecord(given) && operationType(operation)?.prepare({ arguments: given, secrets }, problems);
  // An operation stored by a later release may be unknown.
  if (!compile) throw new TypeError('This operation is not known.');
  return compile(resolveSecret);
}

/** Joins operations that follow each other and run synchronously to one stage. */
function joined(operations: readonly (Transform | BatchStage)[]): CompiledTransform {
  const stages: (EachStage | BatchStage)[] = [];
  let steps: Transform[] = [];
  const flush = (): void => {
    if (steps.length > 0) stages.push({ kind: 'each', apply: inOrder(steps) });
    steps = [];
  };
  for (const operation of operations) {
    if (typeof operation === 'function') steps.push(operation);
    else {
      flush();
      stages.push(operation);
    }
  }
  flush();
  return stages;
}

function inOrder(steps: readonly Transform[]): Transform {
  return (record, context) => {
    let changed: typeof record | undefined = record;
    for (const step of steps) {
      changed = step(changed, context);
      if (changed === undefined) return undefined;
    }
    return changed;
  };
}

/** Applies stages to the records for which a condition holds; the others pass or are dropped. */
function conditional(stages: CompiledTransform, holds: Predicate, otherwise: ElseAction): CompiledTransform {
  if (otherwise === 'drop')
    return [{ kind: 'each', apply: (record) => (holds(record) ? record : undefined) }, ...stages];
  const [only, ...more] = stages;
  if (!only) return [];
  if (only.kind === 'each' && more.length === 0)
    return [{ kind: 'each', apply: (record, context) => (holds(record) ? only.apply(record, context) : record) }];
  return [bypassing(stages, holds)];
}

/** All stages as one, so that a record that bypasses the first one bypasses the others, too. */
function bypassing(stages: CompiledTransform, holds: Predicate): BatchStage {
  return {
    kind: 'batch',
    async run({ lines, recordId, now }, bounds) {
      const chosen = [...lines.keys()].filter((index) => {
        const record: unknown = JSON.parse(lines[index] ?? '{}');
        return isRecord(record) && holds(record);
      });
      const input = {
        lines: chosen.map((index) => lines[index] ?? '{}'),
        recordId: (index: number) => recordId(chosen[index] ?? index),
        now,
      };
      const outcomes = await runStages(stages, input, bounds);
      if (!outcomes) return undefined;
      const changed = new Map(chosen.map((index, at) => [index, outcomes[at]]));
      return lines.map((line, index) => changed.get(index) ?? [line]);
    },
  };
}
