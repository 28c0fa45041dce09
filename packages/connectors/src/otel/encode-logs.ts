import { Writer } from 'protobufjs/minimal.js';
import { isRecord, valueAt, type JsonValue, type KeyPath } from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';
import { nanosOf } from '../_shared/time-of.js';
import { severityNumberOf } from './severity.js';

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const tag = (id: number, wire: number): number => (id << 3) | wire;

export interface LogFields {
  timestamp: KeyPath | undefined;
  severity: KeyPath | undefined;
}

/**
 * Encodes a record as a `LogRecord` whose body is the record, by the field numbers of
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/logs/v1/logs.proto
 *
 * @param observedMs when the record was received
 */
export function encodeLog(line: string, { timestamp, severity }: LogFields, observedMs: number): Uint8Array {
  const parsed = parseExact(line);
  const record = isRecord(parsed) ? parsed : {};
  const writer = Writer.create();
  const nanos = timestamp && nanosOf(valueAt(record, timestamp));
  const observed = BigInt(Math.floor(observedMs)) * 1_000_000n;
  fixed64(writer, 1, nanos ?? observed);
  const level = severity && valueAt(record, severity);
  const number = severityNumberOf(level);
  if (number !== undefined) writer.uint32(tag(2, VARINT)).int32(number);
  if (typeof level === 'string' && level !== '') writer.uint32(tag(3, LENGTH)).string(level);
  writer.uint32(tag(5, LENGTH));
  anyValue(writer, record);
  fixed64(writer, 11, observed);
  return writer.finish();
}

/** Joins log records to an `ExportLogsServiceRequest` with one resource and one scope. */
export function encodeRequest(logs: readonly Uint8Array[]): Uint8Array {
  const writer = Writer.create();
  const scope = Writer.create().uint32(tag(1, LENGTH)).string('connector-frame').finish();
  writer.uint32(tag(1, LENGTH)).fork();
  // A resource without attributes, which some receivers require to be there.
  writer.uint32(tag(1, LENGTH)).bytes(new Uint8Array());
  writer.uint32(tag(2, LENGTH)).fork();
  writer.uint32(tag(1, LENGTH)).bytes(scope);
  for (const log of logs) writer.uint32(tag(2, LENGTH)).bytes(log);
  writer.ldelim().ldelim();
  return writer.finish();
}

function fixed64(writer: Writer, id: number, value: bigint): void {
  const high = Number((value >> 32n) & 0xffffffffn);
  const low = Number(value & 0xffffffffn);
  writer.uint32(tag(id, FIXED64)).fixed32(low).fixed32(high);
}

/** Writes an `AnyValue` with its length. `null` is an empty one. */
function anyValue(writer: Writer, value: JsonValue): void {
  writer.fork();
  if (typeof value === 'string') writer.uint32(tag(1, LENGTH)).string(value);
  else if (typeof value === 'boolean') writer.uint32(tag(2, VARINT)).bool(value);
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.uint32(tag(3, VARINT)).int64(value);
    else writer.uint32(tag(4, FIXED64)).double(value);
  } else if (Array.isArray(value)) {
    writer.uint32(tag(5, LENGTH)).fork();
    for (const item of value) {
      writer.uint32(tag(1, LENGTH));
      anyValue(writer, item);
    }
    writer.ldelim();
  } else if (isRecord(value)) {
    writer.uint32(tag(6, LENGTH)).fork();
    for (const [key, item] of Object.entries(value)) {
      writer.uint32(tag(1, LENGTH)).fork().uint32(tag(1, LENGTH)).string(key).uint32(tag(2, LENGTH));
      anyValue(writer, item ?? null);
      writer.ldelim();
    }
    writer.ldelim();
  }
  writer.ldelim();
}
