import { isIPv4 } from 'node:net';
import { Reader } from 'protobufjs/minimal.js';
import ipaddr from 'ipaddr.js';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { endOfMessage, readMessage } from '../monad-otel/protobuf-value.js';
import { dnsMessage } from './dns-message.js';

const TYPES =
  'AUTH_QUERY AUTH_RESPONSE RESOLVER_QUERY RESOLVER_RESPONSE CLIENT_QUERY CLIENT_RESPONSE FORWARDER_QUERY FORWARDER_RESPONSE STUB_QUERY STUB_RESPONSE TOOL_QUERY TOOL_RESPONSE UPDATE_QUERY UPDATE_RESPONSE'.split(
    ' ',
  );
const FAMILIES = ['INET', 'INET6'];
const PROTOCOLS = ['UDP', 'TCP', 'DOT', 'DOH', 'DNSCryptUDP', 'DNSCryptTCP', 'DOQ'];

type Fields = Record<string, JsonValue | undefined>;

/** Names a value of an enumeration that begins with 1. A later value stays a number. */
const named = (names: readonly string[], value: number): JsonValue => names[value - 1] ?? value;

/**
 * Reads a dnstap message: https://github.com/dnstap/dnstap.pb/blob/master/dnstap.proto. What can't be
 * read is kept in Base64 beside `parse_error`.
 */
export function dnstapRecord(bytes: Buffer): DataRecord {
  try {
    return envelope(bytes);
  } catch {
    return { parse_error: 'dnstap', dnstap: bytes.toString('base64') };
  }
}

function envelope(bytes: Buffer): DataRecord {
  const reader = new Reader(bytes);
  const fields: Fields = {};
  let message: Fields = {};
  readMessage(reader, reader.len, (tag) => {
    if (tag === 10) fields['server_identity'] = textOf(reader.bytes());
    else if (tag === 18) fields['server_version'] = textOf(reader.bytes());
    else if (tag === 26) fields['extra'] = textOf(reader.bytes());
    else if (tag === 114) message = readFields(reader);
    else return false;
    return true;
  });
  return { ...fields, ...message };
}

function readFields(reader: Reader): Fields {
  const fields: Fields = {};
  const times: Record<string, number> = {};
  readMessage(reader, endOfMessage(reader), (tag) => {
    if (tag === 8) fields['message_type'] = named(TYPES, reader.uint32());
    else if (tag === 16) fields['socket_family'] = named(FAMILIES, reader.uint32());
    else if (tag === 24) fields['socket_protocol'] = named(PROTOCOLS, reader.uint32());
    else if (tag === 34) fields['query_address'] = addressOf(reader.bytes());
    else if (tag === 42) fields['response_address'] = addressOf(reader.bytes());
    else if (tag === 48) fields['query_port'] = reader.uint32();
    else if (tag === 56) fields['response_port'] = reader.uint32();
    else if (tag === 64) times['query'] = Number(reader.uint64());
    else if (tag === 77) times['query_nanos'] = reader.fixed32();
    else if (tag === 82) fields['query'] = dnsMessage(reader.bytes());
    else if (tag === 90) fields['query_zone'] = zoneOf(reader.bytes());
    else if (tag === 96) times['response'] = Number(reader.uint64());
    else if (tag === 109) times['response_nanos'] = reader.fixed32();
    else if (tag === 114) fields['response'] = dnsMessage(reader.bytes());
    else return false;
    return true;
  });
  const queryTime = timeOf(times['query'], times['query_nanos']);
  const responseTime = timeOf(times['response'], times['response_nanos']);
  return { timestamp: responseTime ?? queryTime, ...fields, query_time: queryTime, response_time: responseTime };
}

function timeOf(seconds: number | undefined, nanos = 0): string | undefined {
  const date = new Date((seconds ?? Number.NaN) * 1_000);
  if (Number.isNaN(date.getTime())) return undefined;
  return `${date.toISOString().slice(0, 19)}.${String(nanos % 1_000_000_000).padStart(9, '0')}Z`;
}

function addressOf(bytes: Uint8Array): JsonValue {
  if (bytes.length !== 4 && bytes.length !== 16) return Buffer.from(bytes).toString('hex');
  const address = ipaddr.fromByteArray([...bytes]).toString();
  return isIPv4(address) || bytes.length === 16 ? address : null;
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

/** Reads a name in wire format, without compression. */
function zoneOf(bytes: Uint8Array): string {
  const labels: string[] = [];
  for (let at = 0; at < bytes.length && bytes[at] !== 0; at += 1 + (bytes[at] ?? 0))
    labels.push(Buffer.from(bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0))).toString('latin1'));
  return labels.length === 0 ? '.' : labels.join('.');
}
