import type { KafkaMessage } from 'kafkajs';
import { isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';
import { text } from '../_shared/read.js';

/** The record fields that receive the message's metadata. */
export interface RecordFields {
  key: string;
  headers: string;
  offset: string;
  partition: string;
}

export function readRecordFields(settings: Record<string, unknown>): RecordFields {
  return {
    key: text(settings, 'key_field') ?? 'message_key',
    headers: text(settings, 'headers_key') ?? 'headers',
    offset: text(settings, 'offset_key') ?? 'offset',
    partition: text(settings, 'partition_key') ?? 'partition',
  };
}

/**
 * Converts a message to a record: the fields of its JSON object, otherwise `message` with its text
 * (bytes that are not UTF-8 as base64, with `message_encoding`). Adds the message's metadata,
 * `topic` and `timestamp`. If the message already has a field of that name, the metadata field is
 * prefixed with `_`.
 */
export function toRecord(names: RecordFields, topic: string, partition: number, message: KafkaMessage): DataRecord {
  const record = readValue(message.value);
  const headers = Object.entries(message.headers ?? {}).map(([name, value]): [string, JsonValue] => [
    name,
    Array.isArray(value) ? value.map(toText) : toText(value),
  ]);
  const offset = Number(message.offset);
  const time = Number(message.timestamp);
  const said: [string, JsonValue][] = [
    ['topic', topic],
    [names.partition, partition],
    [names.offset, Number.isSafeInteger(offset) ? offset : message.offset],
    ...(time >= 0 && time < 8.64e15 ? [['timestamp', new Date(time).toISOString()] satisfies [string, JsonValue]] : []),
    ...(message.key === null ? [] : [[names.key, toText(message.key)] satisfies [string, JsonValue]]),
    ...(headers.length === 0 ? [] : [[names.headers, Object.fromEntries(headers)] satisfies [string, JsonValue]]),
  ];
  return {
    ...record,
    ...Object.fromEntries(said.map(([name, value]) => [Object.hasOwn(record, name) ? `_${name}` : name, value])),
  };
}

function readValue(value: Buffer | null): DataRecord {
  if (value === null) return { message: null };
  const written = decode(value);
  if (written === undefined) return { message: value.toString('base64'), message_encoding: 'base64' };
  try {
    const parsed = parseExact(written);
    if (isRecord(parsed)) return parsed;
  } catch {
    // Not JSON: treat it as text.
  }
  return { message: written };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function toText(value: Buffer | string | undefined): string {
  if (!Buffer.isBuffer(value)) return value ?? '';
  return decode(value) ?? value.toString('base64');
}
