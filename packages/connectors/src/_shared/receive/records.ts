import { gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { ConnectorConfig, ReceiveRecords } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import {
  BodyError,
  isRecord,
  type DataRecord,
  type JsonValue,
  type RequestHead,
} from '@connector-frame/engine/connector-api';
import { readRecords } from '../../monad-http/read-records.js';
import { FrameSplitter } from '../../monad-syslog/frame-splitter.js';
import { parseMessage } from '../../monad-syslog/parse-message.js';
import { parseExact } from '../exact-json.js';
import { texts } from '../read.js';
import { fillText, headerOf, valuesOf } from './templates.js';

/** Maximum number of records in a body: each has memory overhead beyond its bytes. */
const MAX_RECORDS = 100_000;
const unzip = promisify(gunzip);

type Compression = 'auto' | 'gzip' | 'none';

export interface RecordsOptions {
  definition: ReceiveRecords;
  config: ConnectorConfig;
  /** Bytes of all records of a request together, after decompression. */
  maxBytes: number;
}

/**
 * Returns the records of a body, each as one line of JSON.
 *
 * @param now milliseconds since the epoch
 * @throws BodyError
 */
export async function recordLines(
  body: Buffer,
  head: RequestHead,
  now: number,
  options: RecordsOptions,
): Promise<readonly string[]> {
  const { definition, config } = options;
  const { format, path = '', data, only } = definition;
  if (format === 'syslog') return withFields(syslogRecords(body, now), head, now, options);
  const lines = await readRecords(body);
  if (path === '' && !data && !only && !hasFields(definition)) return lines;
  const found: DataRecord[] = [];
  for (const line of lines) {
    const value = getAt(parseExact(line), path);
    const items: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    for (const item of items) {
      if (!isRecord(item)) throw new BodyError(400, 'The body does not contain records where they are expected.');
      found.push(item);
    }
  }
  if (found.length > MAX_RECORDS) throw tooMany();
  const records = data ? await decoded(found, data.path, compressionOf(definition, config), options.maxBytes) : found;
  const wanted = only ? new Set(texts(config, ...only.in.split('/').slice(1))) : undefined;
  const kept =
    only && wanted && wanted.size > 0 ? records.filter((each) => wanted.has(String(getAt(each, only.path)))) : records;
  return withFields(kept, head, now, options);
}

const tooMany = (): BodyError => new BodyError(413, 'This body holds more than 100,000 records. Send fewer.');
const tooLarge = (): BodyError => new BodyError(413, 'The decompressed records of this request are too large.');

const hasFields = ({ fields, query_fields: query, attributes }: ReceiveRecords): boolean =>
  (fields ?? query ?? attributes) !== undefined;

function compressionOf({ data }: ReceiveRecords, config: ConnectorConfig): Compression {
  const value = data?.compression === undefined ? 'none' : getAt(config, data.compression);
  return value === 'gzip' || value === 'none' ? value : 'auto';
}

function syslogRecords(body: Buffer, now: number): DataRecord[] {
  const splitter = new FrameSplitter();
  const frames = [...splitter.push(body), ...splitter.end()];
  if (frames.length > MAX_RECORDS) throw tooMany();
  return frames.map(({ bytes, truncated }) => ({
    ...parseMessage(bytes.toString('utf8'), now),
    ...(truncated && { truncated: true }),
  }));
}

/** Decodes the bytes in each entry. What is no JSON becomes the message of a record. */
async function decoded(
  entries: readonly DataRecord[],
  path: string,
  compression: Compression,
  maxBytes: number,
): Promise<DataRecord[]> {
  const records: DataRecord[] = [];
  let left = maxBytes;
  for (const entry of entries) {
    const text = getAt(entry, path);
    if (typeof text !== 'string' || !/^[A-Za-z0-9+/\r\n]*={0,2}\s*$/.test(text))
      throw new BodyError(400, 'The body contains data that is not Base64.');
    const bytes = await unpacked(Buffer.from(text, 'base64'), compression, left);
    left -= bytes.length;
    if (left < 0) throw tooLarge();
    records.push(...(await recordsIn(bytes)));
    if (records.length > MAX_RECORDS) throw tooMany();
  }
  return records;
}

async function unpacked(bytes: Buffer, compression: Compression, max: number): Promise<Buffer> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (compression === 'none' || (compression === 'auto' && !isGzip)) return bytes;
  try {
    return await unzip(bytes, { maxOutputLength: Math.max(1, max), chunkSize: 64 * 1024 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new BodyError(400, 'The body contains data that is not valid gzip.');
  }
}

async function recordsIn(bytes: Buffer): Promise<DataRecord[]> {
  const text = bytes.toString('utf8');
  if (text.trim() === '') return [];
  try {
    const lines = await readRecords(bytes);
    return lines.map((line) => parseExact(line)).filter((value: JsonValue) => isRecord(value));
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    return [{ message: text.replace(/\r?\n$/, '') }];
  }
}

function withFields(
  records: readonly DataRecord[],
  head: RequestHead,
  now: number,
  { definition, config }: RecordsOptions,
): string[] {
  const valueOf = valuesOf(head, now);
  const added: [string, JsonValue][] = [];
  for (const [name, template] of Object.entries(definition.fields ?? {})) {
    const value = fillText(template, valueOf);
    if (value !== undefined) added.push([name, value]);
  }
  const { query_fields: query, attributes } = definition;
  for (const name of query === undefined ? [] : texts(config, ...query.split('/').slice(1))) {
    const value = head.query.get(name);
    if (value !== null) added.push([name, value]);
  }
  if (attributes) {
    const given = getAt(parsed(headerOf(head, attributes.header)), attributes.path);
    for (const name of texts(config, ...attributes.names.split('/').slice(1))) {
      const value = isRecord(given) && Object.hasOwn(given, name) ? given[name] : undefined;
      if (typeof value === 'string') added.push([name, value]);
    }
  }
  // An added field never replaces one of the record.
  const extra = Object.fromEntries(added);
  return records.map((record) => JSON.stringify({ ...extra, ...record }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
