import { findMatches, Sink } from './matches.js';

const MAGIC = 0x184d2204;
/**
 * Frame header: version 1, independent blocks of at most 64 KiB, no checksums except the header's.
 */
const HEAD = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
const END = Buffer.alloc(4);
const BLOCK = 64 * 1024;
/** The largest block size that the frame format allows, in bytes. */
const MAX_BLOCK = 4 * 1024 * 1024;
const UNCOMPRESSED = 0x80000000;

/**
 * Decompresses one frame. Skips its checksums: Kafka's own checksum covers the whole batch.
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
 *
 * @param most maximum decompressed size, in bytes
 * @throws RangeError if it is not LZ4 or exceeds `most`
 */
export function unlz4(source: Buffer, most: number): Buffer {
  if (source.readUInt32LE(0) !== MAGIC) throw new RangeError('no LZ4 frame');
  const flags = source.readUInt8(4);
  const checksums = (flags & 0x10) !== 0;
  let at = 7 + ((flags & 0x08) !== 0 ? 8 : 0) + ((flags & 0x01) !== 0 ? 4 : 0);
  // Blocks may reference earlier ones, so all share one buffer, which grows as needed.
  let sink = new Sink(Math.min(most, Math.max(BLOCK, 4 * source.length)), most);
  for (;;) {
    const word = source.readUInt32LE(at);
    at += 4;
    if (word === 0) return sink.bytes;
    const length = word % UNCOMPRESSED;
    const block = source.subarray(at, at + length);
    if (block.length < length) throw new RangeError('out of bounds');
    sink = withRoom(sink, MAX_BLOCK, most);
    if (word >= UNCOMPRESSED) sink.literal(block, 0, length);
    else unblock(block, sink);
    at += length + (checksums ? 4 : 0);
  }
}

function withRoom(sink: Sink, room: number, most: number): Sink {
  const needed = Math.min(most, sink.length + room);
  if (sink.room >= needed - sink.length) return sink;
  const larger = new Sink(Math.min(most, 2 * needed), most);
  larger.literal(sink.bytes, 0, sink.length);
  return larger;
}

/** https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md */
function unblock(source: Buffer, sink: Sink): void {
  let at = 0;
  const longer = (nibble: number): number => {
    if (nibble < 15) return nibble;
    let length = nibble;
    for (let byte = 255; byte === 255; length += byte) {
      byte = source.readUInt8(at);
      at += 1;
    }
    return length;
  };
  for (;;) {
    const token = source.readUInt8(at);
    at += 1;
    const literals = longer(token >> 4);
    sink.literal(source, at, at + literals);
    at += literals;
    if (at >= source.length) return;
    const offset = source.readUInt16LE(at);
    at += 2;
    sink.repeat(offset, longer(token & 15) + 4);
  }
}

export function lz4(source: Buffer): Buffer {
  const parts: Buffer[] = [HEAD];
  for (let at = 0; at < source.length; at += BLOCK) {
    const plain = source.subarray(at, at + BLOCK);
    const packed = toBlock(plain);
    const smaller = packed.length < plain.length;
    const length = Buffer.alloc(4);
    length.writeUInt32LE(smaller ? packed.length : plain.length + UNCOMPRESSED);
    parts.push(length, smaller ? packed : plain);
  }
  return Buffer.concat([...parts, END]);
}

/**
 * Compresses one block. The last five bytes are literals and no match starts in the last twelve:
 * decoders rely on this.
 */
function toBlock(source: Buffer): Buffer {
  const out: number[] = [];
  const rest = (length: number): void => {
    for (let left = length - 15; left >= 0; left -= 255) out.push(Math.min(left, 255));
  };
  let from = 0;
  const literals = (to: number, low: number): void => {
    const length = to - from;
    out.push((Math.min(length, 15) << 4) | low);
    rest(length);
    for (; from < to; from += 1) out.push(source[from] ?? 0);
  };
  for (const { at, length, offset } of findMatches(source, source.length - 12, source.length - 5)) {
    literals(at, Math.min(length - 4, 15));
    out.push(offset & 0xff, offset >> 8);
    rest(length - 4);
    from = at + length;
  }
  literals(source.length, 0);
  return Buffer.from(out);
}
