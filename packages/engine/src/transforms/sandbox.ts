import { compileCondition } from '../conditions/compile-condition.js';
import type { LogicalCondition } from '../conditions/condition.js';
import type { DataRecord } from '../connector-api/record.js';
import { compileTransform, type CompileOptions } from './compile-transform.js';
import type { TransformConfig } from './operation.js';
import { runStages } from './run-stages.js';

/** Maximum output of a transform in the sandbox, in bytes. */
const MAX_BYTES = 1024 * 1024;
/** Maximum processing time of each jq operation in the sandbox, in milliseconds. */
const MAX_MS = 2_000;

export interface TryOptions extends CompileOptions {
  /** Milliseconds since the epoch. */
  now: number;
  signal: AbortSignal;
  /** Identifies the record, for the ids that operations derive from it. */
  recordId: string;
}

/** The result of a transform: records as JSON, or why it rejects the record. */
export type Tried = { readonly lines: readonly string[] } | { readonly rejected: string };

/**
 * Runs a valid transform on one record, with the code that runs it in a pipeline.
 * @returns `undefined` if aborted
 * @throws {ConnectorError} of kind `retry`: jq can't be started
 */
export async function tryTransform(
  config: TransformConfig,
  record: DataRecord,
  { now, signal, recordId, resolveSecret }: TryOptions,
): Promise<Tried | undefined> {
  const input = { lines: [JSON.stringify(record)], recordId: () => recordId, now };
  const bounds = { signal, maxBytes: MAX_BYTES, maxMs: MAX_MS };
  const [outcome] = (await runStages(compileTransform(config, { resolveSecret }), input, bounds)) ?? [];
  if (outcome === undefined) return undefined;
  if (typeof outcome === 'string') return { rejected: outcome };
  const bytes = outcome.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
  return bytes > MAX_BYTES ? { rejected: `too_large: More than ${MAX_BYTES} bytes.` } : { lines: outcome };
}

/** Evaluates a valid condition on one record, with the code that evaluates it in a pipeline. */
export function tryCondition(condition: LogicalCondition, record: DataRecord): boolean {
  const holds = compileCondition(condition);
  return typeof holds === 'string' ? holds === 'always' : holds(record);
}
