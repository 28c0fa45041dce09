import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type kafkajs from 'kafkajs';
import { lz4, unlz4 } from './lz4.js';
import { snappy, unsnappy } from './snappy.js';

/** Maximum decompressed size of one record batch, in bytes: guards against decompression bombs. */
const MOST = 64 * 1024 * 1024;
const maxOutputLength = MOST;

interface Encoded {
  buffer: Buffer;
}

const codec =
  (pack: (bytes: Buffer) => Buffer | Promise<Buffer>, unpack: (bytes: Buffer) => Buffer | Promise<Buffer>) =>
  (): { compress(encoder: Encoded): Promise<Buffer>; decompress(bytes: Buffer): Promise<Buffer> } => ({
    compress: async ({ buffer }) => pack(buffer),
    decompress: async (bytes) => unpack(bytes),
  });

type Done = (error: Error | null, bytes: Buffer) => void;

/** Node.js has Zstandard since 22.15. */
const {
  zstdCompress,
  zstdDecompress,
}: {
  gzip: unknown;
  zstdCompress?: (bytes: Buffer, done: Done) => void;
  zstdDecompress?: (bytes: Buffer, options: { maxOutputLength: number }, done: Done) => void;
} = zlib;

export const hasZstd = zstdCompress !== undefined;

/**
 * Registers the codecs that the Kafka client lacks (Snappy, LZ4, Zstandard) and replaces its gzip
 * codec with one that limits the decompressed size.
 */
export function installCodecs({ CompressionCodecs, CompressionTypes }: typeof kafkajs): void {
  const [gzip, unzip] = [promisify<Buffer, Buffer>(zlib.gzip), promisify(zlib.unzip)];
  CompressionCodecs[CompressionTypes.GZIP] = codec(gzip, (bytes) => unzip(bytes, { maxOutputLength }));
  CompressionCodecs[CompressionTypes.Snappy] = codec(snappy, (bytes) => unsnappy(bytes, MOST));
  CompressionCodecs[CompressionTypes.LZ4] = codec(lz4, (bytes) => unlz4(bytes, MOST));
  if (!zstdCompress || !zstdDecompress) return;
  const [zstd, unzstd] = [promisify(zstdCompress), promisify(zstdDecompress)];
  CompressionCodecs[CompressionTypes.ZSTD] = codec(zstd, (bytes) => unzstd(bytes, { maxOutputLength }));
}
