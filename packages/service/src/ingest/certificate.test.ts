import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { createTestClock } from '../../../../test/support/service.js';
import { createSelfSigned } from './self-signed.js';
import { ownCertificate, readCertificate } from './syslog-certificate.js';

const YEAR = 365 * 86_400_000;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificate-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Returns how many bytes follow the first one of the length in DER. */
const lengthBytes = (length: number): number => (length < 0x80 ? 0 : length < 0x1_00 ? 1 : 2);

describe('a self-signed certificate', () => {
  it('is accepted by OpenSSL, for host names, IPv4 and IPv6 addresses', async () => {
    const { key, cert } = await createSelfSigned(['logs.example.com', '192.0.2.1', '2001:db8::7'], Date.now());
    const file = join(folder, 'cert.pem');
    await writeFile(file, cert);
    for (const host of [
      ['-verify_hostname', 'logs.example.com'],
      ['-verify_ip', '192.0.2.1'],
      ['-verify_ip', '2001:db8::7'],
    ]) {
      const words = ['verify', '-x509_strict', '-CAfile', file, '-purpose', 'sslserver', ...host, file];
      expect(execFileSync('openssl', words, { encoding: 'utf8', stdio: 'pipe' })).toContain('OK');
    }
    const text = execFileSync('openssl', ['x509', '-noout', '-text', '-in', file], { encoding: 'utf8' });
    expect(text).toContain('Public-Key: (256 bit)');
    await writeFile(join(folder, 'key.pem'), key);
    expect(readCertificate(join(folder, 'key.pem'), file)).toEqual({ key, cert });
  });

  it('uses the shortest DER lengths, also for a long name', async () => {
    const host = `${'logs.'.repeat(12)}example.com`;
    const { cert } = await createSelfSigned([host, 'localhost', '127.0.0.1'], Date.now());
    const listed = execFileSync('openssl', ['asn1parse'], { input: cert, encoding: 'utf8' });
    const values = [...listed.matchAll(/hl=(\d+) l= *(\d+)/g)].map(([, header, length]) =>
      [header, length].map(Number),
    );
    expect(values.some(([, length = 0]) => length > 127 && length < 256)).toBe(true);
    // DER writes a length in as few bytes as possible. Strict decoders reject everything else.
    for (const [header, length = 0] of values) expect([header, length]).toEqual([2 + lengthBytes(length), length]);
  });

  it('encodes an expiration after 2049', async () => {
    const { cert } = await createSelfSigned(['localhost'], Date.UTC(2045, 0, 1));
    expect(new Date(new X509Certificate(cert).validTo).getUTCFullYear()).toBe(2054);
  });

  it('is reused until it nears its expiration or the host changes', async () => {
    const clock = createTestClock();
    const first = await ownCertificate(folder, 'logs.example', clock);
    clock.advance(9 * YEAR);
    expect(await ownCertificate(folder, 'logs.example', clock)).toEqual(first);
    const other = await ownCertificate(folder, '192.0.2.9', clock);
    expect(new X509Certificate(other.cert).checkIP('192.0.2.9')).toBe('192.0.2.9');
    clock.advance(10 * YEAR);
    const later = await ownCertificate(folder, '192.0.2.9', clock);
    expect(later.cert).not.toBe(other.cert);
    expect(await readFile(join(folder, 'syslog-certificate.pem'), 'utf8')).toBe(later.cert);
  });
});

describe("the operator's certificate", () => {
  it('is rejected with a hint if it is missing, invalid or does not match its key', async () => {
    const [one, two] = [createCertificate('one'), createCertificate('two')];
    const files = { key: join(folder, 'key'), cert: join(folder, 'cert'), other: join(folder, 'other') };
    await writeFile(files.key, one.key);
    await writeFile(files.cert, one.cert);
    await writeFile(files.other, two.key);
    expect(readCertificate(files.key, files.cert)).toEqual({ key: one.key, cert: one.cert });
    expect(() => readCertificate(files.other, files.cert)).toThrow('does not match the certificate');
    expect(() => readCertificate(join(folder, 'none'), files.cert)).toThrow('The file in SYSLOG_TLS_KEY');
    expect(() => readCertificate(files.cert, files.cert)).toThrow('a private key without a passphrase');
  });
});
