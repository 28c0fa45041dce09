import {
  ConnectorError,
  lookupKey,
  MAX_RESULT_BYTES,
  valueAt,
  WRITTEN,
  type Batch,
  type Batching,
  type CreateOutput,
  type KeyPath,
  type KeyValueEntry,
  type Output,
  type Rejection,
} from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { pathAt } from '../_shared/lookup/settings.js';

/** Limits of one transaction. */
const BATCHING: Batching = { records: 2_000, bytes: 1_000_000, waitMs: 200, waitFrom: 'write' };
const HOUR = 3_600_000;
const MISSING_KEY = 'missing_key: The key field has no text, boolean, or number of at most 2^53.';

/**
 * Writes records to a key-value table of the service, in order: the last record with a key counts.
 */
export const createKvLookupOutput: CreateOutput = ({ settings }, { keyValues }): Output => {
  const keyPath = pathAt(settings, 'key_field');
  const valuePath = text(settings, 'value_field') === undefined ? undefined : pathAt(settings, 'value_field');
  const hours = at(settings, 'ttl');
  const ttlMs = typeof hours === 'number' && hours > 0 ? hours * HOUR : undefined;
  const table = keyValues?.own;
  if (!table) throw new ConnectorError('not_enabled', 'There is no storage for key-value tables here.', 'permanent');
  return {
    batching: BATCHING,
    async write(batch) {
      const { entries, rejected } = entriesOf(batch, keyPath, valuePath);
      if (entries.length > 0) await table.put(entries, ttlMs);
      return rejected.length > 0 ? { rejected } : WRITTEN;
    },
  };
};

function entriesOf(
  { lines, records }: Batch,
  keyPath: KeyPath,
  valuePath: KeyPath | undefined,
): { entries: KeyValueEntry[]; rejected: Rejection[] } {
  const entries: KeyValueEntry[] = [];
  const rejected: Rejection[] = [];
  for (const [index, record] of records.entries()) {
    const key = lookupKey(valueAt(record, keyPath));
    // A whole record is kept as it is, with all digits of its numbers.
    const value = valuePath ? JSON.stringify(valueAt(record, valuePath)) : lines[index];
    if (key === undefined) rejected.push({ index, reason: MISSING_KEY });
    else if (value === undefined) rejected.push({ index, reason: 'missing_value: The record has no value field.' });
    else if (Buffer.byteLength(value) > MAX_RESULT_BYTES)
      rejected.push({ index, reason: `value_too_large: The value has more than ${MAX_RESULT_BYTES} bytes.` });
    else entries.push({ key, value });
  }
  return { entries, rejected };
}
