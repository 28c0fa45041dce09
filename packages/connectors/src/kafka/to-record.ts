import type { KafkaMessage } from 'kafkajs';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { toFields, toText, withMetadata } from '../_shared/broker/message.js';
import { pathOf, recordsOf } from '../_shared/formats/parser.js';
import { text } from '../_shared/read.js';

/** The record fields that receive the message's metadata. */
export interface RecordFields {
  key: string;
  headers: string;
  offset: string;
  partition: string;
  /** Path of several records in a message, such as `records`. Absent: a message is a record. */
  location?: string | undefined;
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
 * Converts a message to its records. One without records at the path is a record itself, so that none
 * is lost.
 */
export function toRecords(names: RecordFields, topic: string, partition: number, message: KafkaMessage): DataRecord[] {
  const whole = toRecord(names, topic, partition, message);
  if (names.location === undefined || message.value === null) return [whole];
  const found = recordsOf(message.value.toString('utf8'), pathOf(names.location));
  const records = found.flatMap((each) => ('record' in each ? [each.record] : []));
  if (records.length === 0 || records.length < found.length) return [whole];
  return records.map((record) => withMetadata(record, metadataOf(names, topic, partition, message)));
}

/**
 * Converts a message to a record: the fields of its JSON object, otherwise `message` with its text
 * (bytes that are not UTF-8 as base64, with `message_encoding`). Adds the message's metadata,
 * `topic` and `timestamp`. If the message already has a field of that name, the metadata field is
 * prefixed with `_`.
 */
function toRecord(names: RecordFields, topic: string, partition: number, message: KafkaMessage): DataRecord {
  return withMetadata(toFields(message.value), metadataOf(names, topic, partition, message));
}

function metadataOf(
  names: RecordFields,
  topic: string,
  partition: number,
  message: KafkaMessage,
): [string, JsonValue][] {
  const headers = Object.entries(message.headers ?? {}).map(([name, value]): [string, JsonValue] => [
    name,
    Array.isArray(value) ? value.map(toText) : toText(value),
  ]);
  const offset = Number(message.offset);
  const time = Number(message.timestamp);
  return [
    ['topic', topic],
    [names.partition, partition],
    [names.offset, Number.isSafeInteger(offset) ? offset : message.offset],
    ...(time >= 0 && time < 8.64e15 ? [['timestamp', new Date(time).toISOString()] satisfies [string, JsonValue]] : []),
    ...(message.key === null ? [] : [[names.key, toText(message.key)] satisfies [string, JsonValue]]),
    ...(headers.length === 0 ? [] : [[names.headers, Object.fromEntries(headers)] satisfies [string, JsonValue]]),
  ];
}
