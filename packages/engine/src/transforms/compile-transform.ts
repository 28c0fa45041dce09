import { parseKeyPath } from '../connector-api/key-path.js';
import { compileOperation, type Transform } from './compile-operation.js';
import { JqProgram } from './jq/jq-program.js';
import type { JqOutcome } from './jq/protocol.js';
import type { TransformConfig } from './operation.js';

export type { Transform };

/** A stage that runs synchronously, record by record. */
export interface EachStage {
  readonly kind: 'each';
  readonly apply: Transform;
}

/**
 * An asynchronous stage that processes many records at once. A record may result in none or
 * several.
 */
export interface BatchStage {
  readonly kind: 'batch';
  /**
   * @param lines records as JSON
   * @returns the outcome of each record, in order; `undefined` if aborted by `signal`
   * @throws {ConnectorError} of kind `retry`
   */
  run(lines: readonly string[], bounds: Bounds): Promise<readonly JqOutcome[] | undefined>;
}

export interface Bounds {
  signal: AbortSignal;
  /** Maximum output for all records in bytes; work in progress may exceed it. */
  maxBytes: number;
  /** Maximum processing time for all records in milliseconds. */
  maxMs: number;
}

/** A compiled transform: its stages, in order. */
export type CompiledTransform = readonly (EachStage | BatchStage)[];

export function compileTransform({ operations }: TransformConfig): CompiledTransform {
  const stages: (EachStage | BatchStage)[] = [];
  let steps: Transform[] = [];
  const flush = (): void => {
    if (steps.length > 0) stages.push({ kind: 'each', apply: inOrder(steps) });
    steps = [];
  };
  for (const operation of operations) {
    if (operation.operation === 'jq') {
      flush();
      const { query, key, prevent_data_dropping: keeps = false } = operation.arguments;
      const program = new JqProgram(query, key === undefined ? undefined : parseKeyPath(key));
      stages.push({
        kind: 'batch',
        run: async (lines, bounds) => {
          const outcomes = await program.run(lines, bounds);
          return keeps
            ? outcomes?.map((outcome, index) => (outcome.length > 0 ? outcome : [lines[index] ?? '']))
            : outcomes;
        },
      });
    } else steps.push(compileOperation(operation));
  }
  flush();
  return stages;
}

function inOrder(steps: readonly Transform[]): Transform {
  return (record, now) => steps.reduce((changed, step) => step(changed, now), record);
}
