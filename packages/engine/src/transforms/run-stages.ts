import { MAX_BATCH_BYTES } from '../connector-api/batch.js';
import { isRecord } from '../connector-api/record.js';
import type { Bounds, CompiledTransform, EachStage, Outcome, StageInput } from './operation.js';
import { TransformRejection } from './transform-rejection.js';

const TOO_LARGE = new TransformRejection('too_large', 'The record grew too large.');

/** Returns why a record goes to the dead letters. */
export const reasonOf = (error: unknown): string =>
  error instanceof TransformRejection ? `${error.code}: ${error.message}` : 'transform_failed';

/** Returns the record as JSON, or `undefined` if it is dropped. */
export function applyToRecord(
  stage: EachStage,
  record: Parameters<EachStage['apply']>[0],
  context: Parameters<EachStage['apply']>[1],
): string | undefined {
  const changed = stage.apply(record, context);
  if (changed === undefined) return undefined;
  const line = JSON.stringify(changed);
  if (Buffer.byteLength(line) > MAX_BATCH_BYTES) throw TOO_LARGE;
  return line;
}

/** Replaces outputs that are larger than a batch by a rejection. */
export const limited = (outcome: Outcome): Outcome =>
  typeof outcome !== 'string' && outcome.some((line) => Buffer.byteLength(line) > MAX_BATCH_BYTES)
    ? reasonOf(TOO_LARGE)
    : outcome;

/** Records derived from the record at `origin`. */
interface Part {
  readonly origin: number;
  readonly line: string;
  readonly recordId: string;
}

/**
 * Runs all stages of a transform and returns the outcome of each record, in order, or `undefined`
 * if aborted. A record whose outputs are rejected by a later stage is rejected as a whole.
 * @throws {ConnectorError} of kind `retry`
 */
export async function runStages(
  stages: CompiledTransform,
  input: StageInput,
  bounds: Bounds,
): Promise<readonly Outcome[] | undefined> {
  const rejected = new Map<number, string>();
  let parts = input.lines.map((line, origin): Part => ({ origin, line, recordId: input.recordId(origin) }));
  for (const stage of stages) {
    const entering = parts.filter(({ origin }) => !rejected.has(origin));
    const stageInput: StageInput = {
      lines: entering.map(({ line }) => line),
      recordId: (index) => entering[index]?.recordId ?? '',
      now: input.now,
    };
    if (entering.length === 0) break;
    const outcomes = stage.kind === 'each' ? runEach(stage, stageInput) : await stage.run(stageInput, bounds);
    if (!outcomes) return undefined;
    parts = outcomes.flatMap((given, index): Part[] => {
      const { origin = 0, recordId = '' } = entering[index] ?? {};
      const outcome = limited(given);
      if (typeof outcome === 'string') rejected.set(origin, outcome);
      else
        return outcome.map((line, at) => ({
          origin,
          line,
          recordId: outcome.length === 1 ? recordId : `${recordId}.${at}`,
        }));
      return [];
    });
  }
  const outputs = input.lines.map((): string[] => []);
  for (const { origin, line } of parts) outputs[origin]?.push(line);
  return outputs.map((lines, origin) => rejected.get(origin) ?? lines);
}

function runEach(stage: EachStage, { lines, recordId, now }: StageInput): Outcome[] {
  return lines.map((line, index): Outcome => {
    try {
      const record: unknown = JSON.parse(line);
      if (!isRecord(record)) return 'no_json_object';
      const changed = applyToRecord(stage, record, { now, recordId: recordId(index) });
      return changed === undefined ? [] : [changed];
    } catch (error) {
      return reasonOf(error);
    }
  });
}
