import { hkdfSync } from 'node:crypto';

/** The root key. It never leaves the process; only keys derived from it are used. */
export interface MasterKey {
  /**
   * Public id of the key, 16 hex digits: stored with the data keys that it wraps, and shown when
   * the key is missing.
   */
  readonly id: string;
  /** Derives a 32-byte key for one purpose. */
  derive(purpose: string): Buffer;
}

/**
 * Reads a master key: 32 bytes as 64 hex digits, base64 or base64url.
 * @throws RangeError that describes the expected format and never contains the input
 */
export function readMasterKey(text: string): MasterKey {
  const bytes = decode(text.trim());
  if (bytes?.length !== 32) {
    throw new RangeError('A master key is 32 random bytes in hex or base64. Make one with: openssl rand -base64 32');
  }
  return masterKey(bytes);
}

/** @param bytes 32 random bytes. */
export function masterKey(bytes: Uint8Array): MasterKey {
  const derive = (purpose: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', bytes, 'connector-frame', purpose, length));
  return { id: derive('key id', 8).toString('hex'), derive: (purpose) => derive(purpose, 32) };
}

function decode(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[\w+/-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return undefined;
}
