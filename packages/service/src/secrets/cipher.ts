import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE = 12;
const TAG = 16;
/**
 * Format 1, read only: `1 | nonce | ciphertext | tag`.
 * Format 2: `2 | length of the header, 2 bytes | header | nonce | ciphertext | tag`.
 */
export type Format = 1 | 2;
const LENGTH = 2;

/**
 * Encrypts with AES-256-GCM and a random nonce, in format 2. One key may seal 2^32 values, more
 * than any organization has.
 *
 * @param context authenticated but not stored: a value sealed for one place can't be opened in
 *   another
 * @param header authenticated and stored in plaintext, at most 65,535 bytes
 */
export function seal(key: Uint8Array, context: readonly string[], value: Uint8Array, header = ''): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  cipher.setAAD(aad([header, ...context]));
  const start = Buffer.alloc(1 + LENGTH);
  const bytes = Buffer.from(header);
  start.writeUInt8(2);
  start.writeUInt16BE(bytes.length, 1);
  return Buffer.concat([start, bytes, nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts either format.
 *
 * @param header for format 2, used instead of the stored header: the value opens only if it was
 *   sealed with this one
 * @throws SealError when the key, the context, the header or one bit of the text differs from what
 *   it was sealed with
 */
export function unseal(key: Uint8Array, context: readonly string[], sealed: Uint8Array, header?: string): Buffer {
  const parts = split(sealed);
  const decipher = createDecipheriv('aes-256-gcm', key, parts.nonce, { authTagLength: TAG });
  decipher.setAAD(aad(parts.format === 1 ? context : [header ?? parts.header, ...context]));
  decipher.setAuthTag(parts.tag);
  try {
    return Buffer.concat([decipher.update(parts.text), decipher.final()]);
  } catch {
    throw new SealError();
  }
}

/**
 * Returns the format and header of a sealed value. Neither is authenticated until the value has
 * been opened. The header of format 1 is empty.
 *
 * @throws SealError when it is not a sealed value
 */
export function labelOf(sealed: Uint8Array): { format: Format; header: string } {
  const { format, header } = split(sealed);
  return { format, header };
}

/** A sealed value can't be opened: it was changed or moved, or the key is a different one. */
export class SealError extends Error {
  override readonly name = 'SealError';

  constructor() {
    super('A sealed value does not open: it was changed or moved, or the key is another one.');
  }
}

function split(sealed: Uint8Array) {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes[0] !== 1 && bytes[0] !== 2) throw new SealError();
  const format: Format = bytes[0] === 1 ? 1 : 2;
  const from = format === 1 ? 1 : 1 + LENGTH;
  if (bytes.length < from) throw new SealError();
  const end = format === 1 ? from : from + bytes.readUInt16BE(1);
  if (bytes.length < end + NONCE + TAG) throw new SealError();
  return {
    format,
    header: bytes.toString('utf8', from, end),
    nonce: bytes.subarray(end, end + NONCE),
    text: bytes.subarray(end + NONCE, -TAG),
    tag: bytes.subarray(-TAG),
  };
}

// JSON separates the parts unambiguously, whatever they contain.
const aad = (context: readonly string[]): Buffer => Buffer.from(JSON.stringify(context));
