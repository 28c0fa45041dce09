import { findMatches, Sink } from './matches.js';

/**
 * Header of the Java stream format, which all brokers and clients accept: the header, then blocks
 * prefixed with their length.
 */
const HEAD = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
const BLOCK = 32 * 1024;

/**
 * Decompresses the Java stream format or a single block.
 *
 * @param most maximum decompressed size, in bytes
 * @throws RangeError if it is not Snappy or exceeds `most`
 */
export function unsnappy(source: Buffer, most: number): Buffer {
  if (!source.subarray(0, 8).equals(HEAD.subarray(0, 8))) return unblock(source, most);
  const blocks: Buffer[] = [];
  for (let [at, total] = [HEAD.length, 0]; at < source.length;) {
    const length = source.readInt32BE(at);
    if (length < 0) throw new RangeError('out of bounds');
    const block = unblock(source.subarray(at + 4, at + 4 + length), most - total);
    blocks.push(block);
    total += block.length;
    at += 4 + length;
  }
  return Buffer.concat(blocks);
}

export function snappy(source: Buffer): Buffer {
  const parts: Buffer[] = [HEAD];
  for (let at = 0; at < source.length; at += BLOCK) {
    const block = toBlock(source.subarray(at, at + BLOCK));
    const length = Buffer.alloc(4);
    length.writeInt32BE(block.length);
    parts.push(length, block);
  }
  return Buffer.concat(parts);
}

/** https://github.com/google/snappy/blob/main/format_description.txt */
function unblock(source: Buffer, most: number): Buffer {
  let at = 0;
  let size = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = source.readUInt8(at);
    at += 1;
    size += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  const sink = new Sink(size, most);
  while (at < source.length) {
    const tag = source.readUInt8(at);
    at += 1;
    const high = tag >> 2;
    if ((tag & 3) === 0) {
      const extra = Math.max(0, high - 59);
      const length = (extra === 0 ? high : source.readUIntLE(at, extra)) + 1;
      at += extra;
      sink.literal(source, at, at + length);
      at += length;
    } else if ((tag & 3) === 1) {
      sink.repeat(((tag >> 5) << 8) | source.readUInt8(at), (high & 7) + 4);
      at += 1;
    } else {
      const width = (tag & 3) === 2 ? 2 : 4;
      sink.repeat(source.readUIntLE(at, width), high + 1);
      at += width;
    }
  }
  if (sink.length !== size) throw new RangeError('out of bounds');
  return sink.bytes;
}

/** Compresses to one block, whatever its size. */
export function toBlock(source: Buffer): Buffer {
  const size: number[] = [];
  for (let left = source.length; ; left = Math.floor(left / 128)) {
    size.push(left > 127 ? (left & 0x7f) | 0x80 : left);
    if (left <= 127) break;
  }
  const parts: Buffer[] = [Buffer.from(size)];
  // Lengths and offsets have two bytes.
  for (let at = 0; at < source.length; at += BLOCK) parts.push(toElements(source.subarray(at, at + BLOCK)));
  return Buffer.concat(parts);
}

function toElements(source: Buffer): Buffer {
  const out: number[] = [];
  let from = 0;
  const literal = (to: number): void => {
    const length = to - from - 1;
    if (length < 0) return;
    if (length < 60) out.push(length << 2);
    else out.push(61 << 2, length & 0xff, length >> 8);
    for (; from < to; from += 1) out.push(source[from] ?? 0);
  };
  for (const { at, length, offset } of findMatches(source, source.length - 4, source.length)) {
    literal(at);
    for (let left = length; left > 0;) {
      const part = Math.min(left, 64);
      out.push(((part - 1) << 2) | 2, offset & 0xff, offset >> 8);
      left -= part;
    }
    from = at + length;
  }
  literal(source.length);
  return Buffer.from(out);
}
