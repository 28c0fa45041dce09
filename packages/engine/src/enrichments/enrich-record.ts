import { MAX_BATCH_BYTES } from '../connector-api/batch.js';
import type { Enrichment, EnrichmentResult } from '../connector-api/enrichment.js';
import { valueAt } from '../connector-api/key-path.js';
import { lookupKey } from '../connector-api/lookup-key.js';
import type { DataRecord } from '../connector-api/record.js';
import { withValue } from '../transforms/edit.js';
import type { Outcome } from '../transforms/operation.js';
import { reasonOf } from '../transforms/run-stages.js';
import { TransformRejection } from '../transforms/transform-rejection.js';

const TOO_LARGE = new TransformRejection('too_large', 'The record grew too large.');

/** Returns the key that a record is looked up by, or `undefined` if it has none. */
export const keyOf = ({ joinPath }: Pick<Enrichment, 'joinPath'>, record: DataRecord): string | undefined =>
  lookupKey(valueAt(record, joinPath));

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
