import { MAX_BATCH_BYTES } from '../connector-api/batch.js';
import type { Enrichment, EnrichmentResult } from '../connector-api/enrichment.js';
import { valueAt } from '../connector-api/key-path.js';
import type { DataRecord } from '../connector-api/record.js';
import { withValue } from '../transforms/edit.js';
import type { Outcome } from '../transforms/operation.js';
import { reasonOf } from '../transforms/run-stages.js';
import { TransformRejection } from '../transforms/transform-rejection.js';

const TOO_LARGE = new TransformRejection('too_large', 'The record grew too large.');

/** Returns the key that a record is looked up by, or `undefined` if it has none. */
export function keyOf({ joinPath }: Pick<Enrichment, 'joinPath'>, record: DataRecord): string | undefined {
  const value = valueAt(record, joinPath);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Puts a result into a record.
 * @param key as `keyOf` returns it
 * @returns the record as JSON, or why it goes to the dead letters
 */
export function enrichRecord(
  { destination, omitMetadata }: Pick<Enrichment, 'destination' | 'omitMetadata'>,
  record: DataRecord,
  key: string | undefined,
  result: EnrichmentResult,
): Outcome {
  if ('rejected' in result) return result.rejected;
  const { code, message, data } = result;
  try {
    const value = omitMetadata ? data : { join_key: key ?? null, message, code, data };
    const line = JSON.stringify(withValue(record, destination, value));
    return Buffer.byteLength(line) > MAX_BATCH_BYTES ? reasonOf(TOO_LARGE) : [line];
  } catch (error) {
    return reasonOf(error);
  }
}
