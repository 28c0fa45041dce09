import { promisify } from 'node:util';
import { gunzip as gunzipCallback } from 'node:zlib';
import { Unzip, UnzipInflate } from 'fflate';

/** Maximum bytes of a page after decompression, of all files together. */
const MAX_UNPACKED = 64 * 1024 * 1024;
const MAX_FILES = 1_000;
/** Deflate expands a byte to 1,032 at most, so that one chunk can't exceed the limit by far. */
const CHUNK = 16 * 1024;
const gunzip = promisify(gunzipCallback);

/**
 * Decompresses a body that is gzip or a zip archive, whose files may be gzip, detected by its first bytes, since vendors
 * label them inconsistently.
 *
 * @param maxBytes maximum size of all contents together
 * @returns the contents of the files; one for a body that is not a zip archive
 * @throws an error if it is malformed or exceeds the limits
 */
export async function unpackBody(bytes: Buffer, maxBytes = MAX_UNPACKED): Promise<Buffer[]> {
  if (isGzip(bytes)) return [await gunzip(bytes, { maxOutputLength: maxBytes })];
  if (!bytes.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004'))) return [bytes];
  const files: Buffer[] = [];
  let left = maxBytes;
  for (const { content: file } of unzipFiles(bytes, maxBytes)) {
    const content = isGzip(file) ? await gunzip(file, { maxOutputLength: Math.max(left, 1) }) : file;
    left -= content.byteLength;
    files.push(content);
  }
  return files;
}

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/**
 * Returns the files of a zip archive.
 *
 * @param maxBytes maximum size of all contents together
 * @throws an error if it is malformed or exceeds the limits
 */
export function unzipFiles(bytes: Buffer, maxBytes: number): { name: string; content: Buffer }[] {
  const files: { name: string; chunks: Uint8Array[]; complete: boolean }[] = [];
  let total = 0;
  const archive = new Unzip((entry) => {
    const file = { name: entry.name, chunks: [] as Uint8Array[], complete: false };
    if (files.push(file) > MAX_FILES) throw new Error('too many files in an archive');
    entry.ondata = (error, data, final) => {
      if (error) throw error;
      total += data.byteLength;
      if (total > maxBytes) throw new Error('an archive that is too large');
      file.chunks.push(data);
      file.complete ||= final;
    };
    entry.start();
  });
  archive.register(UnzipInflate);
  for (let at = 0; at < bytes.length; at += CHUNK)
    archive.push(bytes.subarray(at, at + CHUNK), at + CHUNK >= bytes.length);
  if (files.some(({ complete }) => !complete)) throw new Error('an archive that ends early');
  return files
    .filter(({ name }) => !name.endsWith('/') && !name.startsWith('__MACOSX/'))
    .map(({ name, chunks }) => ({ name, content: Buffer.concat(chunks) }));
}
