import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE = 12;
const TAG = 16;
/** First byte of everything sealed, so that a later format can be told apart. */
const FORMAT = 1;

/**
 * AES-256-GCM with a random nonce. `context` is authenticated, not stored: what was sealed for one place opens nowhere else.
 * 2^32 values may be sealed with one key, more than any organization has.
 */
export function seal(key: Uint8Array, context: readonly string[], value: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  cipher.setAAD(aad(context));
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
}

/** @throws SealError when the key, the context or one bit of the text is not what it was sealed with. */
export function unseal(key: Uint8Array, context: readonly string[], sealed: Uint8Array): Buffer {
  if (sealed.length < 1 + NONCE + TAG || sealed[0] !== FORMAT) throw new SealError();
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + NONCE), { authTagLength: TAG });
  decipher.setAAD(aad(context));
  decipher.setAuthTag(sealed.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + NONCE, -TAG)), decipher.final()]);
  } catch {
    throw new SealError();
  }
}

/** A sealed value that does not open here: moved, changed, or another key. */
export class SealError extends Error {
  override readonly name = 'SealError';

  constructor() {
    super('A sealed value does not open: it was changed or moved, or the key is another one.');
  }
}

// JSON keeps the parts apart, whatever they hold.
const aad = (context: readonly string[]): Buffer => Buffer.from(JSON.stringify(context));
