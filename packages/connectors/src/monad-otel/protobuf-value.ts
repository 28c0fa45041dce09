import type { Reader } from 'protobufjs/minimal.js';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { doubleNumber, MAX_DEPTH, present, tooDeep, wholeNumber } from './log-fields.js';

/** Wire types of protobuf: the last three bits of a tag. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

/**
 * Reads a message field by field.
 *
 * @param take reads the field with this tag, or returns false to skip it
 */
export function readMessage(reader: Reader, end: number, take: (tag: number) => boolean): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (!take(tag)) reader.skipType(tag & 7);
  }
  if (reader.pos !== end) throw new RangeError('A field reaches over the end of its message.');
}

/** Reads a length prefix and returns the end offset of the message that follows. */
export function endOfMessage(reader: Reader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError('A message reaches over the end of the body.');
  return end;
}

/** Converts the reader's representation of a 64-bit integer. */
export const bigInt = (value: number | { low: number; high: number }): bigint =>
  typeof value === 'number' ? BigInt(value) : (BigInt(value.high) << 32n) | BigInt(value.low >>> 0);

const field = (id: number, wire: number): number => (id << 3) | wire;

/** Reads an `AnyValue`; an empty one is `null`. */
function anyValue(reader: Reader, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw tooDeep();
  let value: JsonValue = null;
  readMessage(reader, endOfMessage(reader), (tag) => {
    if (tag === field(1, LENGTH)) value = reader.string();
    else if (tag === field(2, VARINT)) value = reader.bool();
    else if (tag === field(3, VARINT)) value = wholeNumber(bigInt(reader.int64()));
    else if (tag === field(4, FIXED64)) value = doubleNumber(reader.double());
    else if (tag === field(5, LENGTH)) value = arrayValue(reader, depth + 1);
    else if (tag === field(6, LENGTH)) value = keyValueList(reader, depth + 1);
    else if (tag === field(7, LENGTH)) value = Buffer.from(reader.bytes()).toString('base64');
    else return false;
    return true;
  });
  return value;
}

function arrayValue(reader: Reader, depth: number): JsonValue {
  const items: JsonValue[] = [];
  readMessage(reader, endOfMessage(reader), (tag) => {
    if (tag !== field(1, LENGTH)) return false;
    items.push(anyValue(reader, depth));
    return true;
  });
  return items;
}

function keyValueList(reader: Reader, depth: number): DataRecord {
  const pairs = new Map<string, JsonValue>();
  readMessage(reader, endOfMessage(reader), (tag) => {
    if (tag !== field(1, LENGTH)) return false;
    keyValue(reader, pairs, depth);
    return true;
  });
  return present(pairs) ?? {};
}

/** Reads a `KeyValue`. If a key is repeated, the last value wins. */
export function keyValue(reader: Reader, into: Map<string, JsonValue>, depth = 0): void {
  let key = '';
  let value: JsonValue = null;
  readMessage(reader, endOfMessage(reader), (tag) => {
    if (tag === field(1, LENGTH)) key = reader.string();
    else if (tag === field(2, LENGTH)) value = anyValue(reader, depth + 1);
    else return false;
    return true;
  });
  into.set(key, value);
}

/** Reads an `AnyValue` at the top level of a record. */
export const topValue = (reader: Reader): JsonValue => anyValue(reader, 0);
