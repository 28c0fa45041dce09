import { createBatch, type Batch } from '../../packages/engine/src/connector-api/batch.js';
import type { Output, WriteResult } from '../../packages/engine/src/connector-api/index.js';
import { ManualClock } from '../../packages/engine/src/testing/manual-clock.js';
import { openOutput } from './s3-connectors.js';
import { BUCKET_KEYS, type FakeBucket } from './fake-bucket.js';
import { openSharedBucket } from './shared-bucket.js';

export const never = new AbortController().signal;
const NOON = Date.parse('2026-11-12T12:30:00Z');
export const JSON_LINES = { Format: 'json', json_format: { type: 'line' } };

/** Creates a batch of records as JSON; a string is used unchanged as a line. */
export const batchOf = (records: readonly unknown[], id = 'batch-1'): Batch =>
  createBatch(
    id,
    records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))),
  );

type Fields = Record<string, unknown>;

/**
 * Starts a bucket for the tests of a file, and opens outputs that write to it at noon of a fixed
 * day.
 */
export async function openBucketToWrite(): Promise<{
  bucket: FakeBucket;
  open: (changes?: Fields, secrets?: Fields) => Output;
  /** Writes the records and returns the single object created. */
  write: (changes: Fields, records: readonly unknown[]) => Promise<{ key: string; body: Buffer; result: WriteResult }>;
}> {
  const bucket = await openSharedBucket();
  const open = (changes: Fields = {}, secrets: Fields = BUCKET_KEYS): Output =>
    openOutput(
      { endpoint: bucket.origin, format_config: JSON_LINES, compression: 'none', ...changes },
      secrets,
      new ManualClock(NOON),
    );
  return {
    bucket,
    open,
    async write(changes, records) {
      const result = await open(changes).write(batchOf(records), never);
      const [[key, { body }] = ['', { body: Buffer.alloc(0) }]] = bucket.objects;
      return { key, body, result };
    },
  };
}
