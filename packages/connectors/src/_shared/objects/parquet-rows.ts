import type { AsyncBuffer } from 'hyparquet';
import { EgressError, ConnectorError, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { ContentError } from '../unpack.js';
import { readObject } from './read-object.js';
import { ObjectError, type Listed, type ObjectStore } from './store.js';

/** Maximum bytes of a file, because decoded row groups are held in memory. */
const MAX_BYTES = 512 * 1024 * 1024;
/** Maximum rows to decode at a time. */
const MAX_ROWS = 10_000;

export const isParquet = (key: string): boolean => /\.parquet$/i.test(key);

/**
 * Reads the rows of a Parquet file as records, some at a time. Columns without a value are left out.
 * @throws ContentError, ObjectError, ConnectorError
 */
export async function* readParquet(
  store: ObjectStore,
  object: Listed,
  signal: AbortSignal,
): AsyncGenerator<DataRecord[], void, void> {
  if (object.size > MAX_BYTES) throw new ContentError('too_large');
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const file = fileOf(store, object, signal);
  const metadata = await decoded(() => parquetMetadataAsync(file), signal);
  let start = 0;
  for (const { num_rows: count } of metadata.row_groups) {
    const end = start + Number(count);
    for (; start < end; start = Math.min(start + MAX_ROWS, end)) {
      const range = { rowStart: start, rowEnd: Math.min(start + MAX_ROWS, end) };
      const rows = await decoded(() => parquetReadObjects({ file, metadata, compressors, ...range }), signal);
      yield rows.map(toRecord);
    }
  }
}

/** Reads parts of an object when they are needed. Keeps the last one. */
function fileOf(store: ObjectStore, object: Listed, signal: AbortSignal): AsyncBuffer {
  let kept: { start: number; bytes: Buffer } | undefined;
  return {
    byteLength: object.size,
    async slice(start, end = object.size) {
      if (!kept || start < kept.start || end > kept.start + kept.bytes.byteLength)
        kept = { start, bytes: await bytesBetween(store, object, start, end, signal) };
      const { buffer, byteOffset } = kept.bytes;
      const from = byteOffset + start - kept.start;
      return new Uint8Array(buffer).slice(from, from + end - start).buffer;
    },
  };
}

async function bytesBetween(
  store: ObjectStore,
  object: Listed,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  let length = 0;
  // Ends the request as soon as there is enough.
  for await (const chunk of readObject(store, object, signal, start)) {
    const part = chunk.subarray(0, bytes.byteLength - length);
    bytes.set(part, length);
    length += part.byteLength;
    if (length === bytes.byteLength) break;
  }
  return bytes;
}

/** Errors of the decoder mean that the file is not valid. */
async function decoded<T>(decode: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await decode();
  } catch (error) {
    signal.throwIfAborted();
    const isOther = [ObjectError, ConnectorError, EgressError].some((kind) => error instanceof kind);
    throw isOther ? error : new ContentError('not_parquet');
  }
}

function toRecord(row: Readonly<Record<string, unknown>>): DataRecord {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      const json = toJson(value);
      return json === undefined ? [] : [[name, json] as const];
    }),
  );
}

/** Returns `undefined` for no value. */
function toJson(value: unknown): JsonValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((each) => toJson(each) ?? null);
  return typeof value === 'object' ? toRecord({ ...value }) : undefined;
}
