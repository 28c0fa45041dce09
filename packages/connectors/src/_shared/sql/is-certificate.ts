import { X509Certificate } from 'node:crypto';

/** Returns whether `pem` is a certificate. TLS silently ignores an invalid CA. */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== '';
  } catch {
    return false;
  }
}
