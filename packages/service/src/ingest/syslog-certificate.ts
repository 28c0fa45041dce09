import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../clock.js';
import { createSelfSigned, type KeyAndCertificate } from './self-signed.js';

/** A self-signed certificate is replaced this many milliseconds before it expires. */
const LAST_DAYS = 30 * 86_400_000;

/**
 * Reads the operator's certificate for syslog over TLS.
 * @throws Error that names the wrong file
 */
export function readCertificate(keyFile: string, certFile: string): KeyAndCertificate {
  const key = read('SYSLOG_TLS_KEY', keyFile);
  const cert = read('SYSLOG_TLS_CERT', certFile);
  let fits = false;
  try {
    fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new Error(
      'SYSLOG_TLS_KEY and SYSLOG_TLS_CERT must be files in PEM: a private key without a passphrase, and its certificate.',
    );
  }
  if (!fits) throw new Error('The private key in SYSLOG_TLS_KEY does not match the certificate in SYSLOG_TLS_CERT.');
  return { key, cert };
}

/**
 * Returns a self-signed certificate. Creates one if the folder has none, or if it expires soon or
 * is for another host. `syslog-certificate.pem` is for senders; the key is in `syslog.pem`.
 */
export async function ownCertificate(folder: string, host: string, clock: Clock): Promise<KeyAndCertificate> {
  const path = join(folder, 'syslog.pem');
  const known = readOwn(path);
  const usable = known && isUsable(known.cert, host, clock.now());
  const { key, cert } = usable ? known : await createSelfSigned([host, 'localhost', '127.0.0.1'], clock.now());
  if (!usable) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, key + cert, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  writeFileSync(join(folder, 'syslog-certificate.pem'), cert, { mode: 0o600 });
  return { key, cert };
}

function read(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Error(`The file in ${name} can't be read. It must be a PEM file.`);
  }
}

function readOwn(path: string): KeyAndCertificate | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    const at = text.indexOf('-----BEGIN CERTIFICATE-----');
    return at < 0 ? undefined : { key: text.slice(0, at), cert: text.slice(at) };
  } catch {
    return undefined;
  }
}

function isUsable(cert: string, host: string, now: number): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const covers = ipaddr.isValid(host) ? certificate.checkIP(host) : certificate.checkHost(host);
    return covers !== undefined && Date.parse(certificate.validTo) - now > LAST_DAYS;
  } catch {
    return false;
  }
}
