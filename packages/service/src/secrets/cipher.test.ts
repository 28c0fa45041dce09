import { createDecipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seal, SealError, unseal } from './cipher.js';

const key = randomBytes(32);
const context = ['secret', 'organization', 'connector', 'field', 'key id'];
const value = Buffer.from('correct horse battery staple');

describe('seal', () => {
  it('opens where it was sealed', () => {
    expect(unseal(key, context, seal(key, context, value))).toEqual(value);
    expect(unseal(key, [], seal(key, [], Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it('is AES-256-GCM, so that another program could read it', () => {
    const sealed = seal(key, context, value);
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13));
    decipher.setAAD(Buffer.from(JSON.stringify(context)));
    decipher.setAuthTag(sealed.subarray(-16));
    expect(Buffer.concat([decipher.update(sealed.subarray(13, -16)), decipher.final()])).toEqual(value);
  });

  it('never seals twice alike', () => {
    const all = new Set(Array.from({ length: 1_000 }, () => seal(key, context, value).toString('hex')));
    expect(all.size).toBe(1_000);
  });

  it('does not open with any byte changed, cut off or added', () => {
    const sealed = seal(key, context, value);
    for (let index = 0; index < sealed.length; index += 1) {
      const flipped = Buffer.from(sealed);
      flipped[index] = (flipped[index] ?? 0) ^ (1 << (index % 8));
      expect(() => unseal(key, context, flipped)).toThrow(SealError);
      expect(() => unseal(key, context, sealed.subarray(0, index))).toThrow(SealError);
    }
    expect(() => unseal(key, context, Buffer.concat([sealed, Buffer.of(0)]))).toThrow(SealError);
  });

  it('does not open in another place or with another key', () => {
    const sealed = seal(key, context, value);
    context.forEach((_part, index) => {
      expect(() => unseal(key, context.with(index, 'other'), sealed)).toThrow(SealError);
    });
    // Parts can't flow into each other.
    expect(() => unseal(key, ['secret', 'organizationconnector', '', 'field', 'key id'], sealed)).toThrow(SealError);
    expect(() => unseal(randomBytes(32), context, sealed)).toThrow(SealError);
  });
});
