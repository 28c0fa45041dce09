import { Writer } from 'protobufjs/minimal.js';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const tag = (id: number, wire: number): number => (id << 3) | wire;

/**
 * Encodes records as a `PushEventsRequest` of log events, by the field numbers of
 * https://github.com/vectordotdev/vector/blob/master/lib/vector-core/proto/event.proto
 */
export function encodeEvents(lines: readonly string[]): Uint8Array {
  const writer = Writer.create();
  for (const line of lines) {
    // The event, its log, and the value of the log.
    writer.uint32(tag(1, LENGTH)).fork().uint32(tag(1, LENGTH)).fork().uint32(tag(2, LENGTH));
    writeValue(writer, parseExact(line));
    writer.ldelim().ldelim();
  }
  return writer.finish();
}

/** Writes a `Value` with its length. */
function writeValue(writer: Writer, value: JsonValue): void {
  writer.fork();
  if (typeof value === 'string') writer.uint32(tag(1, LENGTH)).string(value);
  else if (typeof value === 'boolean') writer.uint32(tag(6, VARINT)).bool(value);
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.uint32(tag(4, VARINT)).int64(value);
    else writer.uint32(tag(5, FIXED64)).double(value);
  } else if (Array.isArray(value)) {
    writer.uint32(tag(8, LENGTH)).fork();
    for (const item of value) {
      writer.uint32(tag(1, LENGTH));
      writeValue(writer, item);
    }
    writer.ldelim();
  } else if (isRecord(value)) {
    writer.uint32(tag(7, LENGTH)).fork();
    for (const [key, item] of Object.entries(value)) {
      writer.uint32(tag(1, LENGTH)).fork().uint32(tag(1, LENGTH)).string(key).uint32(tag(2, LENGTH));
      writeValue(writer, item ?? null);
      writer.ldelim();
    }
    writer.ldelim();
  } else writer.uint32(tag(9, VARINT)).int32(0);
  writer.ldelim();
}
