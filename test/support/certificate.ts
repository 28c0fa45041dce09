import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  /** PEM; self-signed, so it is its own certificate authority as well. */
  cert: string;
  /** PEM, without a passphrase. */
  key: string;
}

/**
 * Creates a self-signed certificate for these names and addresses, valid for two days. Requires the
 * `openssl` command.
 */
export const createCertificate = (...hosts: string[]): Certificate =>
  create(hosts, ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']);

/** Creates such a certificate with an RSA key, as identity providers sign with. */
export const createRsaCertificate = (...hosts: string[]): Certificate => create(hosts, ['-newkey', 'rsa:2048']);

function create(hosts: readonly string[], algorithm: readonly string[]): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const keyFile = join(folder, 'key.pem');
  const certFile = join(folder, 'cert.pem');
  const names = hosts.map((host) => (isIP(host) ? `IP:${host}` : `DNS:${host}`)).join(',');
  try {
    const kind = ['-x509', ...algorithm, '-nodes', '-days', '2', '-subj', `/CN=${hosts[0] ?? 'test'}`];
    const extensions = ['-addext', `subjectAltName=${names}`];
    execFileSync('openssl', ['req', ...kind, ...extensions, '-keyout', keyFile, '-out', certFile], { stdio: 'pipe' });
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  } catch (error) {
    throw new Error('No certificate for the test. Is openssl installed? (apt-get install openssl)', { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
