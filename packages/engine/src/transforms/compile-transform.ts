import { parseKeyPath } from '../conditions/key-path.js';
import { compileOperation, type Transform } from './compile-operation.js';
import { JqProgram } from './jq/jq-program.js';
import type { JqOutcome } from './jq/protocol.js';
import type { TransformConfig } from './operation.js';

export type { Transform };

/** Operations that are done record by record, at once. */
export interface EachStage {
  readonly kind: 'each';
  readonly apply: Transform;
}

/** An operation that takes its time, and takes many records at once. A record may become none or several. */
export interface BatchStage {
  readonly kind: 'batch';
  /**
   * @param lines records as JSON
   * @returns for each in order what became of it; `undefined`: given up, because `signal` was aborted
   * @throws EndError retry
   */
  run(lines: readonly string[], bounds: Bounds): Promise<readonly JqOutcome[] | undefined>;
}

export interface Bounds {
  signal: AbortSignal;
  /** Bytes that may be made of all of them; what was begun may go over it. */
  maxBytes: number;
  /** Milliseconds of work on all of them. */
  maxMs: number;
}

/** A transform that `parseTransform` found nothing wrong with, ready to be applied: its stages, one after the other. */
export type CompiledTransform = readonly (EachStage | BatchStage)[];

export function compileTransform({ operations }: TransformConfig): CompiledTransform {
  const stages: (EachStage | BatchStage)[] = [];
  let steps: Transform[] = [];
  const cut = (): void => {
    if (steps.length > 0) stages.push({ kind: 'each', apply: inOrder(steps) });
    steps = [];
  };
  for (const operation of operations) {
    if (operation.operation === 'jq') {
      cut();
      const { query, key } = operation.arguments;
      const program = new JqProgram(query, key === undefined ? undefined : parseKeyPath(key));
      stages.push({ kind: 'batch', run: (lines, bounds) => program.run(lines, bounds) });
    } else steps.push(compileOperation(operation));
  }
  cut();
  return stages;
}

function inOrder(steps: readonly Transform[]): Transform {
  return (record, now) => steps.reduce((changed, step) => step(changed, now), record);
}
