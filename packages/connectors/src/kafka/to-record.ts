import type { KafkaMessage } from 'kafkajs';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { toFields, toText, withMetadata } from '../_shared/broker/message.js';
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
  const record = toFields(message.value);
  const headers = Object.entries(message.headers ?? {}).map(([name, value]): [string, JsonValue] => [
    name,
    Array.isArray(value) ? value.map(toText) : toText(value),
  ]);
  const offset = Number(message.offset);
  const time = Number(message.timestamp);
  const metadata: [string, JsonValue][] = [
    ['topic', topic],
    [names.partition, partition],
    [names.offset, Number.isSafeInteger(offset) ? offset : message.offset],
    ...(time >= 0 && time < 8.64e15 ? [['timestamp', new Date(time).toISOString()] satisfies [string, JsonValue]] : []),
    ...(message.key === null ? [] : [[names.key, toText(message.key)] satisfies [string, JsonValue]]),
    ...(headers.length === 0 ? [] : [[names.headers, Object.fromEntries(headers)] satisfies [string, JsonValue]]),
  ];
  return withMetadata(record, metadata);
}
