import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Content encodings in which files are served. */
export type Encoding = 'br' | 'gzip';

/** Folder that the build fills. `dist` is a sibling of `src`, and this file may run from either. */
export const COMPRESSED = fileURLToPath(new URL('../../dist/compressed', import.meta.url));

/**
 * Returns the name of a compressed file. It contains the hash of the original, so that a file of
 * another build is never found.
 */
export const compressedName = (content: Uint8Array, encoding: Encoding): string =>
  `${createHash('sha256').update(content).digest('hex')}.${encoding}`;

/** Returns what the build compressed. Compresses any other file, such as one of `FORM_DIR`. */
export function compressed(content: Uint8Array, encoding: Encoding, folder = COMPRESSED): Uint8Array<ArrayBuffer> {
  const file = join(folder, compressedName(content, encoding));
  return Uint8Array.from(existsSync(file) ? readFileSync(file) : compress(content, encoding));
}

/** Compresses as far as possible, which takes a second of CPU time for a form. */
function compress(content: Uint8Array, encoding: Encoding): Buffer {
  if (encoding === 'gzip') return gzipSync(content, { level: 9 });
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
}
