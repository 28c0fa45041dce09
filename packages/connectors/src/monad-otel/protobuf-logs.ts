import { Reader } from 'protobufjs/minimal.js';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { nonZero, identifier, formatTime, definedFields, nonEmpty, type Log } from './log-fields.js';
import {
  bigInt,
  endOfMessage,
  FIXED32,
  FIXED64,
  keyValue,
  LENGTH,
  readMessage,
  topValue,
  VARINT,
} from './protobuf-value.js';

const field = (id: number, wire: number): number => (id << 3) | wire;

/**
 * Yields the log records of an `ExportLogsServiceRequest` in protobuf, by the field numbers of the
 * OTLP specification (https://github.com/open-telemetry/opentelemetry-proto: logs/v1/logs.proto,
 * common/v1/common.proto, resource/v1/resource.proto). Builds one record at a time, because a few
 * bytes can encode many records.
 *
 * @throws RangeError and other errors if the body is not valid
 */
export function* protobufLogs(body: Uint8Array): Generator<Log, void, void> {
  for (const resourceLogs of messages(body, field(1, LENGTH))) {
    const resource = shared(resourceLogs, 'resource');
    for (const scopeLogs of messages(resourceLogs, field(2, LENGTH))) {
      const scope = shared(scopeLogs, 'scope');
      for (const log of messages(scopeLogs, field(2, LENGTH))) yield { fields: fieldsOf(log), resource, scope };
    }
  }
}

/** Yields the embedded messages in one field, in order. `fieldTag` is the field's tag. */
function* messages(message: Uint8Array, fieldTag: number): Generator<Uint8Array, void, void> {
  const reader = Reader.create(message);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === fieldTag) yield reader.bytes();
    else reader.skipType(tag & 7);
  }
}

/**
 * Reads the `Resource` or `InstrumentationScope` and its schema URL, which all records below share.
 */
function shared(message: Uint8Array, kind: 'resource' | 'scope'): DataRecord | undefined {
  const attributes = new Map<string, JsonValue>();
  let [name, version, schemaUrl] = ['', '', ''];
  const attribute = field(kind === 'resource' ? 1 : 3, LENGTH);
  const reader = Reader.create(message);
  readMessage(reader, reader.len, (tag) => {
    if (tag === field(3, LENGTH)) schemaUrl = reader.string();
    else if (tag === field(1, LENGTH)) {
      readMessage(reader, endOfMessage(reader), (inner) => {
        if (inner === attribute) keyValue(reader, attributes);
        else if (kind === 'scope' && inner === field(1, LENGTH)) name = reader.string();
        else if (kind === 'scope' && inner === field(2, LENGTH)) version = reader.string();
        else return false;
        return true;
      });
    } else return false;
    return true;
  });
  return definedFields([
    ['name', nonEmpty(name)],
    ['version', nonEmpty(version)],
    ['attributes', definedFields(attributes)],
    ['schema_url', nonEmpty(schemaUrl)],
  ]);
}

function fieldsOf(message: Uint8Array): DataRecord {
  const found = new Map<string, JsonValue | undefined>();
  const attributes = new Map<string, JsonValue>();
  const reader = Reader.create(message);
  const nanos = (): string | undefined => formatTime(BigInt.asUintN(64, bigInt(reader.fixed64())));
  const id = (bytes: number): string | undefined => identifier(Buffer.from(reader.bytes()).toString('hex'), bytes);
  readMessage(reader, reader.len, (tag) => {
    if (tag === field(1, FIXED64)) found.set('timestamp', nanos());
    else if (tag === field(11, FIXED64)) found.set('observed_timestamp', nanos());
    else if (tag === field(2, VARINT)) found.set('severity_number', nonZero(reader.int32()));
    else if (tag === field(3, LENGTH)) found.set('severity_text', nonEmpty(reader.string()));
    else if (tag === field(5, LENGTH)) found.set('body', topValue(reader));
    else if (tag === field(6, LENGTH)) keyValue(reader, attributes);
    else if (tag === field(7, VARINT)) found.set('dropped_attributes_count', nonZero(reader.uint32()));
    else if (tag === field(8, FIXED32)) found.set('flags', nonZero(reader.fixed32()));
    else if (tag === field(9, LENGTH)) found.set('trace_id', id(16));
    else if (tag === field(10, LENGTH)) found.set('span_id', id(8));
    else if (tag === field(12, LENGTH)) found.set('event_name', nonEmpty(reader.string()));
    else return false;
    return true;
  });
  found.set('attributes', definedFields(attributes));
  return definedFields(found) ?? {};
}
