import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { BodyError } from '@connector-frame/engine/connector-api';
import { ByteReader } from '../_shared/listen/byte-reader.js';
import { ProtocolError, type Peer, type Protocol, type Received } from '../_shared/listen/protocol.js';
import { readRecords } from '../monad-http/read-records.js';

const unpack = promisify(inflate);

/** Events of a window. Beats send 2,048 by default. */
const MAX_WINDOW = 100_000;
/** Bytes of one event. */
const MAX_EVENT = 8 * 1024 * 1024;
/** Bytes of compressed frames, and after decompression. */
const MAX_PACKED = 16 * 1024 * 1024;
const MAX_UNPACKED = 64 * 1024 * 1024;
/** Bytes of events that are stored and acknowledged before the end of a window. */
const PART_BYTES = 4 * 1024 * 1024;
/** Keys of an event in version 1. */
const MAX_KEYS = 10_000;

interface Window {
  version: number;
  size: number;
  received: number;
  lines: string[];
  bytes: number;
  /** Sequence number of the last event. */
  sequence: number;
}

/**
 * The Lumberjack protocol, versions 1 and 2:
 * https://github.com/elastic/logstash-forwarder/blob/master/PROTOCOL.md,
 * https://github.com/logstash-plugins/logstash-input-beats/blob/main/PROTOCOL.md
 */
export const lumberjack: Protocol = {
  async *read(chunks, peer) {
    const reader = new ByteReader(chunks, peer);
    const window: Window = { version: 0x32, size: 0, received: 0, lines: [], bytes: 0, sequence: 0 };
    while (!(await reader.ended())) yield* frame(reader, peer, window, false);
  },
  // Logstash does the same while its pipeline is busy. Sequence 0 acknowledges nothing.
  keepAlive: () => acknowledgment(0x32, 0),
};

function acknowledgment(version: number, sequence: number): Uint8Array {
  const bytes = Buffer.from([version, 0x41, 0, 0, 0, 0]);
  bytes.writeUInt32BE(sequence, 2);
  return bytes;
}

async function* frame(reader: ByteReader, peer: Peer, window: Window, isPacked: boolean): AsyncGenerator<Received> {
  const [version = 0, type = 0] = await reader.take(2);
  if (version !== 0x31 && version !== 0x32) throw new ProtocolError('It speaks an unknown version of Lumberjack.');
  const kind = String.fromCharCode(type);
  window.version = version;
  if (kind === 'W') {
    const size = await reader.uint32();
    if (size === 0 || size > MAX_WINDOW)
      throw new ProtocolError('Its window has no size, or more than 100,000 events.');
    Object.assign(window, { size, received: 0 });
  } else if (kind === 'C' && !isPacked) yield* packedFrames(reader, peer, window);
  else if (kind === 'J') yield* add(window, await reader.uint32(), await jsonEvent(reader));
  else if (kind === 'D') yield* add(window, await reader.uint32(), await keyedEvent(reader));
  else throw new ProtocolError('It has sent an unknown frame of Lumberjack.');
}

async function* packedFrames(reader: ByteReader, peer: Peer, window: Window): AsyncGenerator<Received> {
  const length = await reader.uint32();
  if (length > MAX_PACKED) throw new ProtocolError('It has sent more than 16 MiB at once.');
  const packed = await reader.take(length);
  const bytes = await unpackedOf(packed);
  peer.hold(bytes.length);
  const nothing = { hold: () => undefined, release: () => undefined };
  const inner = new ByteReader(oneChunk(bytes), nothing);
  while (!(await inner.ended())) yield* frame(inner, peer, window, true);
  peer.release();
}

async function unpackedOf(packed: Buffer): Promise<Buffer> {
  try {
    return await unpack(packed, { maxOutputLength: MAX_UNPACKED, chunkSize: 64 * 1024 });
  } catch {
    throw new ProtocolError('What it has compressed is not valid, or larger than 64 MiB.');
  }
}

// eslint-disable-next-line @typescript-eslint/require-await -- A reader takes a stream.
async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}

async function jsonEvent(reader: ByteReader): Promise<string> {
  const length = await reader.uint32();
  if (length > MAX_EVENT) throw new ProtocolError('It has sent an event of more than 8 MiB.');
  try {
    const [line, second] = await readRecords(await reader.take(length));
    if (line !== undefined && second === undefined) return line;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
  }
  throw new ProtocolError('It has sent an event that is no JSON object.');
}

async function keyedEvent(reader: ByteReader): Promise<string> {
  const count = await reader.uint32();
  if (count > MAX_KEYS) throw new ProtocolError('It has sent an event of more than 10,000 keys.');
  const pairs: [string, string][] = [];
  let left = MAX_EVENT;
  const text = async (): Promise<string> => {
    const length = await reader.uint32();
    left -= length;
    if (left < 0) throw new ProtocolError('It has sent an event of more than 8 MiB.');
    return (await reader.take(length)).toString('utf8');
  };
  for (let index = 0; index < count; index += 1) pairs.push([await text(), await text()]);
  return JSON.stringify(Object.fromEntries(pairs));
}

/** Adds an event. The last one of a window, or of a large part of it, is acknowledged. */
function* add(window: Window, sequence: number, line: string): Generator<Received> {
  if (window.received >= window.size) throw new ProtocolError('It has sent an event outside of a window.');
  window.received += 1;
  window.sequence = sequence;
  window.lines.push(line);
  window.bytes += line.length;
  if (window.received < window.size && window.bytes < PART_BYTES) return;
  const { lines, version } = window;
  Object.assign(window, { lines: [], bytes: 0 });
  yield { lines, reply: acknowledgment(version, sequence) };
}
