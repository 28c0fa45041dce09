import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { labelOf, seal, SealError, unseal } from './cipher.js';

const key = randomBytes(32);
const context = ['secret', 'organization', 'connector', 'field', 'key id'];
const value = Buffer.from('correct horse battery staple');
const header = '[["/settings/endpoint","digest"]]';

/** Seals in format 1, as earlier releases did. */
function sealFormat1(): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(JSON.stringify(context)));
  return Buffer.concat([Buffer.of(1), nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
}

describe('seal', () => {
  it('returns a ciphertext that unseal opens in the same context', () => {
    expect(unseal(key, context, seal(key, context, value))).toEqual(value);
    expect(unseal(key, context, seal(key, context, value, header))).toEqual(value);
    expect(unseal(key, [], seal(key, [], Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it('uses AES-256-GCM with the expected layout', () => {
    const sealed = seal(key, context, value, header);
    const end = 3 + sealed.readUInt16BE(1);
    expect([sealed[0], sealed.toString('utf8', 3, end)]).toEqual([2, header]);
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(end, end + 12));
    decipher.setAAD(Buffer.from(JSON.stringify([header, ...context])));
    decipher.setAuthTag(sealed.subarray(-16));
    expect(Buffer.concat([decipher.update(sealed.subarray(end + 12, -16)), decipher.final()])).toEqual(value);
  });

  it('returns a different ciphertext each time', () => {
    const all = new Set(Array.from({ length: 1_000 }, () => seal(key, context, value).toString('hex')));
    expect(all.size).toBe(1_000);
  });

  it.each([
    ['format 2', () => seal(key, context, value)],
    ['format 2 with a header', () => seal(key, context, value, header)],
    ['format 1', sealFormat1],
  ])('detects every changed, missing or added byte: %s', (_name, make) => {
    const sealed = make();
    expect(unseal(key, context, sealed)).toEqual(value);
    for (let index = 0; index < sealed.length; index += 1) {
      const flipped = Buffer.from(sealed);
      flipped[index] = (flipped[index] ?? 0) ^ (1 << (index % 8));
      expect(() => unseal(key, context, flipped)).toThrow(SealError);
      expect(() => unseal(key, context, sealed.subarray(0, index))).toThrow(SealError);
    }
    expect(() => unseal(key, context, Buffer.concat([sealed, Buffer.of(0)]))).toThrow(SealError);
    // Neither format is accepted as the other.
    expect(() => unseal(key, context, Buffer.concat([Buffer.of(sealed[0] === 1 ? 2 : 1), sealed.subarray(1)]))).toThrow(
      SealError,
    );
  });

  it('does not open in another context or with another key', () => {
    const sealed = seal(key, context, value, header);
    context.forEach((_part, index) => {
      expect(() => unseal(key, context.with(index, 'other'), sealed)).toThrow(SealError);
    });
    // Text can't move from one part to the next.
    expect(() => unseal(key, ['secret', 'organizationconnector', '', 'field', 'key id'], sealed)).toThrow(SealError);
    expect(() => unseal(key, [header, ...context], seal(key, context, value))).toThrow(SealError);
    expect(() => unseal(randomBytes(32), context, sealed)).toThrow(SealError);
  });

  it('opens only with the header it was sealed with', () => {
    const sealed = seal(key, context, value, header);
    expect(labelOf(sealed)).toEqual({ format: 2, header });
    expect(unseal(key, context, sealed, header)).toEqual(value);
    expect(() => unseal(key, context, sealed, `${header} `)).toThrow(SealError);
    expect(() => unseal(key, context, sealed, '')).toThrow(SealError);
    const other = Buffer.from(sealed);
    other.write('other', 6);
    expect(() => unseal(key, context, other)).toThrow(SealError);
  });
});
