import { randomBytes } from 'node:crypto';
import { Secret } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type TestService } from '../../../../test/support/service.js';
import { createPasswords, DEFAULT_PASSWORD_COST } from './passwords.js';
import { createSecondFactor, qrCodeOf } from './second-factor.js';

const databases = anyDatabase();
let service: TestService;
beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
});
afterAll(async () => {
  await service.store.close();
  await databases.close();
});

describe('codes of authenticator apps', () => {
  /** RFC 6238, appendix B, for SHA-1: seconds and codes, of which apps show the last six digits. */
  const vectors: [seconds: number, code: string][] = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ];

  it.each(vectors)('are those of RFC 6238 at %i seconds', (seconds, code) => {
    const secret = Secret.fromLatin1('12345678901234567890').base32;
    const at = (time: number) =>
      createSecondFactor(service.vault, { now: () => time * 1_000, elapsed: () => 0 }).stepOf(secret, code.slice(2));
    const step = Math.floor(seconds / 30);
    expect([at(seconds), at(seconds + 30), at(seconds - 30)]).toEqual([step, step, step]);
    expect([at(seconds + 60), at(seconds - 60)]).toEqual([undefined, undefined]);
  });

  it('have a secret that opens for its user only', () => {
    const factor = createSecondFactor(service.vault, service.clock);
    const sealed = factor.seal('ana', factor.newSecret());
    expect(factor.open('ana', sealed)).toMatch(/^[A-Z2-7]{32}$/);
    expect(() => factor.open('bo', sealed)).toThrow('does not open');
  });

  it('are set up by a QR code of the address', () => {
    const { size, path } = qrCodeOf('otpauth://totp/x');
    expect(size).toBeGreaterThan(20);
    expect(path).toMatch(/^(M\d+ \d+h1v1h-1z)+$/);
  });
});

describe('passwords', () => {
  it('are hashed with 64 MiB, verified at the cost of their hash, and rehashed at a new one', async () => {
    const { logN, r, p } = DEFAULT_PASSWORD_COST;
    expect(128 * r * 2 ** logN).toBe(64 * 1_048_576);
    const [old, current] = [createPasswords({ logN: 4, r: 8, p: 1 }), createPasswords({ logN: 5, r: 8, p: 1 })];
    const password = randomBytes(12).toString('base64url');
    const hash = await old.hash(password);
    expect(await old.hash(password)).not.toBe(hash);
    expect(await current.verify(password, hash)).toBe(true);
    expect(await current.verify(`${password}x`, hash)).toBe(false);
    expect(await current.verify(password, undefined)).toBe(false);
    expect(await current.verify(password, 'scrypt$99$8$1$x$y')).toBe(false);
    expect([old.isOutdated(hash), current.isOutdated(hash)]).toEqual([false, true]);
    expect(createPasswords().isOutdated(`scrypt$${logN}$${r}$${p}$x`)).toBe(false);
  });

  it('are refused with 503 while many others are waiting, instead of a queue without end', async () => {
    const passwords = createPasswords({ logN: 4, r: 8, p: 1 });
    const hashes = await Promise.allSettled(Array.from({ length: 60 }, () => passwords.hash('x')));
    const refused = hashes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(10);
    expect(refused[0]).toMatchObject({ reason: { status: 503, type: 'unavailable' } });
    expect(await passwords.hash('x')).toMatch(/^scrypt/);
  });

  it('are the same in composed and decomposed Unicode', async () => {
    const passwords = createPasswords({ logN: 4, r: 8, p: 1 });
    const hash = await passwords.hash('cr\u00e8me br\u00fbl\u00e9e');
    expect(await passwords.verify('cre\u0300me bru\u0302le\u0301e', hash)).toBe(true);
  });

  /** RFC 7914, section 12: the last test vector but one. */
  it('are derived by scrypt of RFC 7914', async () => {
    const key =
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887';
    const salt = Buffer.from('SodiumChloride').toString('base64url');
    const hash = `scrypt$14$8$1$${salt}$${Buffer.from(key, 'hex').subarray(0, 32).toString('base64url')}`;
    expect(await createPasswords().verify('pleaseletmein', hash)).toBe(true);
  });
});
