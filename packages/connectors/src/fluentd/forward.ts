import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { decodeMulti, decodeMultiStream, encode, ExtData, ExtensionCodec, type DecoderOptions } from '@msgpack/msgpack';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { ProtocolError, type Protocol, type Received } from '../_shared/listen/protocol.js';

const unzip = promisify(gunzip);

/** Bytes of a chunk of events, as sent and after decompression. Fluentd's default is 8 MiB. */
const MAX_CHUNK = 16 * 1024 * 1024;
const MAX_UNPACKED = 64 * 1024 * 1024;
const MAX_EVENTS = 100_000;
const MAX_DEPTH = 90;
const SLICE = 1_000;

/** https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1#eventtime-ext-format */
const EVENT_TIME = 0;
const codec = new ExtensionCodec();
codec.register({ type: EVENT_TIME, encode: () => null, decode: (bytes) => new ExtData(EVENT_TIME, bytes) });

const options: DecoderOptions = {
  extensionCodec: codec,
  useBigInt64: true,
  maxStrLength: MAX_CHUNK,
  maxBinLength: MAX_CHUNK,
  maxArrayLength: MAX_EVENTS,
  maxMapLength: MAX_EVENTS,
  maxExtLength: 1_024,
  // The library throws on the key `__proto__`. A sender would send such an event forever.
  keyDecoder: {
    canBeCached: () => true,
    decode(bytes, offset, length) {
      const key = Buffer.from(bytes.buffer, bytes.byteOffset + offset, length).toString('utf8');
      return key === '__proto__' ? '__proto' : key;
    },
  },
  mapKeyConverter: (key) => (typeof key === 'number' ? key : String(key)),
};

interface Options {
  chunk: string | undefined;
  isCompressed: boolean;
}

/** The forward protocol: https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1 */
export const forward: Protocol = {
  async *read(chunks, peer) {
    let held = 0;
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        held += chunk.length;
        if (held > 2 * MAX_CHUNK) throw new ProtocolError('It has sent a message of more than 16 MiB.');
        peer.hold(chunk.length);
        yield chunk;
      }
    }
    for await (const message of decodeMultiStream(counted(), options)) {
      // A heartbeat.
      if (message !== null) yield await received(message);
      held = 0;
      peer.release();
    }
  },
};

/** `[tag, time, record, option?]`, `[tag, [[time, record], ...], option?]` or `[tag, packed, option?]`. */
async function received(message: unknown): Promise<Received> {
  if (!Array.isArray(message)) throw new ProtocolError('It has sent a message that is no list.');
  const [tag, second, third, fourth] = message as unknown[];
  if (typeof tag !== 'string') throw new ProtocolError('It has sent a message without a tag.');
  const isList = Array.isArray(second);
  const isPacked = second instanceof Uint8Array || typeof second === 'string';
  const { chunk, isCompressed } = optionsOf(isList || isPacked ? third : fourth);
  const entries = isList ? second : isPacked ? await entriesIn(second, isCompressed) : [[second, third]];
  const lines: string[] = [];
  for (const entry of entries) {
    const [time, record] = Array.isArray(entry) ? (entry as unknown[]) : [];
    lines.push(JSON.stringify({ tag, timestamp: timeOf(time), ...recordOf(record) }));
    if (lines.length % SLICE === 0) await turn();
  }
  return chunk === undefined ? { lines } : { lines, reply: encode({ ack: chunk }) };
}

function optionsOf(value: unknown): Options {
  const { chunk, compressed } = isMap(value) ? value : {};
  if (compressed !== undefined && compressed !== 'gzip' && compressed !== 'text')
    throw new ProtocolError('It compresses in a way that is not supported: use gzip.');
  return { chunk: typeof chunk === 'string' ? chunk : undefined, isCompressed: compressed === 'gzip' };
}

async function entriesIn(packed: Uint8Array | string, isCompressed: boolean): Promise<unknown[]> {
  const bytes = typeof packed === 'string' ? Buffer.from(packed, 'latin1') : packed;
  const plain = isCompressed ? await unpackedOf(bytes) : bytes;
  const entries: unknown[] = [];
  for (const entry of decodeMulti(plain, options)) {
    entries.push(entry);
    if (entries.length > MAX_EVENTS) throw new ProtocolError('It has sent more than 100,000 events at once.');
    if (entries.length % SLICE === 0) await turn();
  }
  return entries;
}

async function unpackedOf(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    return await unzip(bytes, { maxOutputLength: MAX_UNPACKED, chunkSize: 64 * 1024 });
  } catch {
    throw new ProtocolError('What it has compressed is not valid gzip, or larger than 64 MiB.');
  }
}

/** Formats a time in seconds, or with nanoseconds, as RFC 3339. */
function timeOf(value: unknown): string | undefined {
  let seconds = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN;
  let nanos = 0;
  if (value instanceof ExtData && value.data instanceof Uint8Array && value.data.length === 8) {
    const view = new DataView(value.data.buffer, value.data.byteOffset, 8);
    seconds = view.getUint32(0);
    nanos = view.getUint32(4);
  }
  const date = new Date(seconds * 1_000);
  if (Number.isNaN(date.getTime())) throw new ProtocolError('It has sent an event without a time.');
  if (nanos === 0 || nanos > 999_999_999) return date.toISOString();
  return `${date.toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`;
}

function recordOf(value: unknown): DataRecord {
  if (!isMap(value)) throw new ProtocolError('It has sent an event that is no map.');
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, jsonOf(each, 1)]));
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array) &&
  !(value instanceof ExtData);

/** Converts what JSON lacks: whole numbers beyond 2^53 and bytes become texts. */
function jsonOf(value: unknown, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw new ProtocolError('It has sent an event that is nested too deep.');
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array)
    return isUtf8(value) ? Buffer.from(value).toString('utf8') : Buffer.from(value).toString('base64');
  if (value instanceof ExtData) return value.type === EVENT_TIME ? (timeOf(value) ?? null) : null;
  if (Array.isArray(value)) return value.map((each) => jsonOf(each, depth + 1));
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, jsonOf(each, depth + 1)]));
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
