import { KeyObject } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** A private key and its certificate, both PEM. */
export interface KeyAndCertificate {
  key: string;
  cert: string;
}

const DAY = 86_400_000;
/**
 * Validity in days. It is long because senders are configured only once to trust the certificate.
 */
const VALID_DAYS = 3_650;

/**
 * Creates a self-signed certificate (ECDSA, P-256), valid for ten years. Senders must receive it
 * and trust it.
 * @param hosts names and addresses under which this machine is reached; the first is its common
 *   name
 * @param now milliseconds since the epoch
 */
export async function createSelfSigned(hosts: readonly [string, ...string[]], now: number): Promise<KeyAndCertificate> {
  // Loaded here, because a service needs them once in ten years. The library's dependency tsyringe
  // requires the polyfill.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { digitalSignature, keyCertSign } = x509.KeyUsageFlags;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [hosts[0]] }],
    notBefore: new Date(now - DAY),
    notAfter: new Date(now + VALID_DAYS * DAY),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      // digitalSignature for handshakes, keyCertSign for the certificate itself.
      new x509.KeyUsagesExtension(digitalSignature | keyCertSign, true),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: ipaddr.isValid(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `${certificate.toString('pem')}\n`,
  };
}
