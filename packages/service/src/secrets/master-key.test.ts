import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readMasterKey } from './master-key.js';

describe('readMasterKey', () => {
  it('reads hex, base64 and base64url as the same key', () => {
    const bytes = randomBytes(32);
    const keys = [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')].map(readMasterKey);
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    expect(keys[0]?.derive('data keys')).toEqual(keys[2]?.derive('data keys'));
  });

  it('derives a different key per purpose and does not serialize the key', () => {
    const key = readMasterKey(randomBytes(32).toString('hex'));
    expect(key.derive('a')).not.toEqual(key.derive('b'));
    expect(JSON.stringify(key)).toBe(JSON.stringify({ id: key.id }));
  });

  it('rejects other text without repeating it in the error', () => {
    for (const text of [
      '',
      'secret',
      randomBytes(31).toString('hex'),
      randomBytes(33).toString('base64'),
      'z'.repeat(64),
    ]) {
      expect(() => readMasterKey(text)).toThrow(/openssl rand/);
      if (text !== '') expect(() => readMasterKey(text)).not.toThrow(text);
    }
  });
});
