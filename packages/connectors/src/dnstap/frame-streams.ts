import { setImmediate as turn } from 'node:timers/promises';
import { ByteReader } from '../_shared/listen/byte-reader.js';
import { ProtocolError, type Protocol, type Received } from '../_shared/listen/protocol.js';

/** Control frames: https://github.com/farsightsec/fstrm/blob/master/fstrm/control.h */
const ACCEPT = 1;
const START = 2;
const STOP = 3;
const READY = 4;
const FINISH = 5;
const CONTENT_TYPE = 1;
const DNSTAP = 'protobuf:dnstap.Dnstap';

const MAX_CONTROL = 512;
/** Bytes of a data frame: a DNS message over TCP has at most 64 KiB, and a dnstap message two. */
const MAX_FRAME = 1024 * 1024;
/** Messages and bytes that are stored together. */
const MAX_LINES = 500;
const MAX_BYTES = 1024 * 1024;

/**
 * Frame Streams with dnstap messages, in both directions or in one.
 *
 * @param portField field of a record for the sender's port
 */
export const frameStreams = (portField: string): Protocol => ({
  async *read(chunks, peer) {
    const { dnstapRecord } = await import('./dnstap-record.js');
    const reader = new ByteReader(chunks, peer);
    let started = false;
    let lines: string[] = [];
    let bytes = 0;
    const flush = function* (): Generator<Received> {
      if (lines.length > 0) yield { lines };
      lines = [];
      bytes = 0;
    };
    for (;;) {
      // Deliver the lines that were read before waiting for more.
      if (reader.isEmpty) yield* flush();
      if (await reader.ended()) return;
      const length = await reader.uint32();
      if (length === 0) {
        const control = await controlFrame(reader);
        yield* flush();
        if (control.type === READY) yield { lines: [], reply: accept(control.contentTypes) };
        else if (control.type === START) {
          requireDnstap(control.contentTypes);
          started = true;
        } else if (control.type === STOP) {
          yield { lines: [], reply: frameOf(FINISH) };
          return;
        }
        continue;
      }
      if (!started) throw new ProtocolError('It has sent data before it started a stream.');
      if (length > MAX_FRAME) throw new ProtocolError('It has sent a frame of more than 1 MiB.');
      const message = await reader.take(length);
      lines.push(JSON.stringify({ ...dnstapRecord(message), peer: peer.address, [portField]: peer.port }));
      bytes += length;
      if (lines.length < MAX_LINES && bytes < MAX_BYTES) continue;
      yield* flush();
      await turn();
    }
  },
});

interface Control {
  type: number;
  contentTypes: readonly string[];
}

async function controlFrame(reader: ByteReader): Promise<Control> {
  const length = await reader.uint32();
  if (length < 4 || length > MAX_CONTROL) throw new ProtocolError('It has sent an invalid control frame.');
  const bytes = await reader.take(length);
  const contentTypes: string[] = [];
  for (let at = 4; at < length;) {
    if (at + 8 > length) throw new ProtocolError('It has sent an invalid control frame.');
    const [field, size] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
    at += 8 + size;
    if (at > length) throw new ProtocolError('It has sent an invalid control frame.');
    if (field === CONTENT_TYPE) contentTypes.push(bytes.toString('latin1', at - size, at));
  }
  return { type: bytes.readUInt32BE(0), contentTypes };
}

/** Without a content type, a stream may hold anything. */
function requireDnstap(contentTypes: readonly string[]): void {
  if (contentTypes.length > 0 && !contentTypes.includes(DNSTAP))
    throw new ProtocolError('Its stream does not contain dnstap messages.');
}

function accept(contentTypes: readonly string[]): Uint8Array {
  requireDnstap(contentTypes);
  return frameOf(ACCEPT, DNSTAP);
}

function frameOf(type: number, contentType = ''): Uint8Array {
  const length = 4 + (contentType === '' ? 0 : 8 + contentType.length);
  const bytes = Buffer.alloc(8 + length);
  bytes.writeUInt32BE(length, 4);
  bytes.writeUInt32BE(type, 8);
  if (contentType === '') return bytes;
  bytes.writeUInt32BE(CONTENT_TYPE, 12);
  bytes.writeUInt32BE(contentType.length, 16);
  bytes.write(contentType, 20, 'latin1');
  return bytes;
}
