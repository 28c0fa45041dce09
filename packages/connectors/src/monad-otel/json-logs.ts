import { BodyError, type DataRecord, isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { at } from '../_shared/read.js';
import {
  count,
  doubleNumber,
  identifier,
  MAX_DEPTH,
  moment,
  present,
  tooDeep,
  wholeNumber,
  word,
  type Log,
} from './log-fields.js';

/**
 * Yields the log records of an `ExportLogsServiceRequest` in OTLP's JSON encoding: names in camel
 * case, ids in hex, 64-bit integers as strings or numbers
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
 *
 * @throws BodyError
 */
export function* jsonLogs(request: unknown): Generator<Log, void, void> {
  for (const resourceLogs of list(at(request, 'resourceLogs'))) {
    const resource = present([
      ['attributes', attributes(at(resourceLogs, 'resource', 'attributes'))],
      ['schema_url', text(at(resourceLogs, 'schemaUrl'))],
    ]);
    for (const scopeLogs of list(at(resourceLogs, 'scopeLogs'))) {
      const scope = present([
        ['name', text(at(scopeLogs, 'scope', 'name'))],
        ['version', text(at(scopeLogs, 'scope', 'version'))],
        ['attributes', attributes(at(scopeLogs, 'scope', 'attributes'))],
        ['schema_url', text(at(scopeLogs, 'schemaUrl'))],
      ]);
      for (const log of list(at(scopeLogs, 'logRecords'))) yield { fields: fieldsOf(log), resource, scope };
    }
  }
}

function fieldsOf(log: unknown): DataRecord {
  const body = at(log, 'body');
  const fields = present([
    ['timestamp', time(at(log, 'timeUnixNano'))],
    ['observed_timestamp', time(at(log, 'observedTimeUnixNano'))],
    ['severity_number', small(at(log, 'severityNumber'))],
    ['severity_text', text(at(log, 'severityText'))],
    ['event_name', text(at(log, 'eventName'))],
    ['body', isRecord(body) ? anyValue(body, 0) : undefined],
    ['attributes', attributes(at(log, 'attributes'))],
    ['dropped_attributes_count', small(at(log, 'droppedAttributesCount'))],
    ['trace_id', identifier(text(at(log, 'traceId')) ?? '', 16)],
    ['span_id', identifier(text(at(log, 'spanId')) ?? '', 8)],
    ['flags', small(at(log, 'flags'))],
  ]);
  return fields ?? {};
}

function anyValue(value: unknown, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (!isRecord(value)) return null;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = value;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (intValue !== undefined && intValue !== null) return wholeNumber(integer(intValue, 'An intValue'));
  if (doubleValue !== undefined && doubleValue !== null) return double(doubleValue);
  if (isRecord(arrayValue)) return list(arrayValue['values']).map((item) => anyValue(item, depth + 1));
  if (isRecord(kvlistValue)) return pairs(kvlistValue['values'], depth + 1) ?? {};
  return typeof bytesValue === 'string' ? bytesValue : null;
}

const attributes = (value: unknown): DataRecord | undefined => pairs(value, 0);

function pairs(value: unknown, depth: number): DataRecord | undefined {
  return present(
    list(value).map((pair) => [text(at(pair, 'key')) ?? '', anyValue(at(pair, 'value'), depth + 1)] as const),
  );
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string | undefined => (typeof value === 'string' ? word(value) : undefined);
const small = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? count(value) : undefined;
const time = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : moment(integer(value, 'A time'));

function integer(value: unknown, name: string): bigint {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value);
  throw new BodyError(400, `${name} in this request is not a whole number.`);
}

function double(value: unknown): JsonValue {
  if (typeof value === 'number' || value === 'NaN' || value === 'Infinity' || value === '-Infinity')
    return doubleNumber(Number(value));
  throw new BodyError(400, 'A doubleValue in this request is not a number.');
}
