import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

export type Compression = 'auto' | 'gzip' | 'none';

/** The content of an object is malformed. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
  readonly reason: string;

  /** @param reason a stable code */
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Decompresses gzip. `auto` detects it by the first two bytes, since file extensions are
 * unreliable. Concatenated gzip members form one stream.
 * @throws ContentError, and what `bytes` throws
 */
export async function* unpack(
  bytes: AsyncGenerator<Uint8Array, void, void>,
  compression: Compression,
): AsyncGenerator<Uint8Array, void, void> {
  if (compression === 'none') {
    yield* bytes;
    return;
  }
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < 2) {
    const next = await bytes.next();
    if (next.done === true) break;
    head.push(next.value);
    length += next.value.byteLength;
  }
  const first = Buffer.concat(head);
  const isGzip = first[0] === 0x1f && first[1] === 0x8b;
  if (!isGzip && compression === 'gzip' && length > 0) {
    await bytes.return();
    throw new ContentError('not_gzip');
  }
  const all = chain(first, bytes);
  yield* isGzip ? gunzip(all) : all;
}

async function* chain(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  if (first.byteLength > 0) yield first;
  yield* rest;
}

async function* gunzip(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const unzipping = createGunzip({ chunkSize: 64 * 1024 });
  const feeding = pipeline(Readable.from(bytes, { objectMode: false }), unzipping);
  // The loop below receives the same error.
  feeding.catch(() => undefined);
  try {
    for await (const chunk of unzipping) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    const isCorrupt = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    throw isCorrupt ? new ContentError('corrupt_gzip') : error;
  }
}
