import type { StringSchema } from '../types.js';

/** What was found where a private key belongs. */
export type WrongKey = 'public_key' | 'certificate' | 'encrypted';

/** A line of `~/.ssh/id_ed25519.pub`: type, Base64, comment. RFC 4253, section 6.6. */
const SSH_PUBLIC_KEY = /^(?:ssh-|ecdsa-sha2-|sk-(?:ssh|ecdsa)-)\S+ AAAA/;

/**
 * An encrypted key: PKCS #8 (RFC 5958), the header of older PEM files (RFC 1421), or an OpenSSH key
 * whose Base64 does not go on with the cipher `none`.
 */
const ENCRYPTED = /BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED|b3BlbnNzaC1rZXktdjEA(?!AAAABG5vbmU)/m;

/**
 * Returns what was entered instead of a private key, or undefined if nothing else is recognized. A
 * file that contains a certificate and its private key is accepted.
 */
export function privateKeyProblem(kind: StringSchema['x-private-key'], value: string): WrongKey | undefined {
  if (value.includes('PRIVATE KEY-----')) return kind === 'plain' && ENCRYPTED.test(value) ? 'encrypted' : undefined;
  // RFC 4716 writes `---- BEGIN SSH2 PUBLIC KEY ----`.
  if (SSH_PUBLIC_KEY.test(value.trim()) || /BEGIN .{0,20}PUBLIC KEY/.test(value)) return 'public_key';
  return value.includes('BEGIN CERTIFICATE') ? 'certificate' : undefined;
}
