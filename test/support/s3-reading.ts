import type { JsonValue } from '../../packages/engine/src/connector-api/record.js';
import type { Page, PageInput } from '../../packages/engine/src/connector-api/index.js';
import { openInput } from './s3-connectors.js';
import { BUCKET_KEYS, type FakeBucket } from './fake-bucket.js';
import { openSharedBucket } from './shared-bucket.js';

export const never = new AbortController().signal;
/** Start of reading, long before any object of a test. */
export const YEAR_2020 = '2020-01-01T00:00:00Z';
/** Modification time of most objects of a test. */
export const OLD = Date.parse('2026-01-01T00:00:00Z');

export interface Reading {
  pages: Page[];
  cursor: JsonValue | undefined;
  numbers: unknown[];
  rejected: string[];
  codes: string[];
}

type Fields = Record<string, unknown>;

/** Starts a bucket for the tests of a file, and opens inputs that read all of it. */
export async function openBucketToRead(): Promise<{
  bucket: FakeBucket;
  open: (changes?: Fields, secrets?: Fields) => PageInput;
}> {
  const bucket = await openSharedBucket();
  return {
    bucket,
    open: (changes = {}, secrets = BUCKET_KEYS) =>
      openInput({ endpoint: bucket.origin, backfill_start_time: YEAR_2020, ...changes }, secrets),
  };
}

/** Reads everything available. Pages and cursors pass through JSON, as between two processes. */
export async function read(
  input: PageInput,
  cursor?: JsonValue,
  stopAfter = Number.POSITIVE_INFINITY,
): Promise<Reading> {
  const pages: Page[] = [];
  for await (const page of input.pages(cursor, never)) {
    pages.push(JSON.parse(JSON.stringify(page)));
    if (pages.length >= stopAfter) break;
  }
  return {
    pages,
    cursor: pages.at(-1)?.cursor ?? cursor,
    numbers: pages.flatMap((page) => page.records.map((record) => record['n'])),
    rejected: pages.flatMap((page) => (page.unreadable ?? []).map(({ reason }) => reason)),
    codes: pages.flatMap((page) => (page.notes ?? []).map(({ code }) => code)),
  };
}

/** Returns records `{ n }`, one per line. */
export const lines = (from: number, count: number, fill = ''): string =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify({ n: from + n, ...(fill && { fill }) })}\n`).join('');
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
