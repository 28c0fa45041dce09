/** Checks the search that the canary tests rely on (S11). */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { encodingsOf, findLeaks } from '../support/secret-texts.js';

const secret = 'canary/0001 "ümlaut"+?';
const hidden: Record<string, string | Uint8Array> = {
  'a text': `before ${secret} after`,
  'bytes of UTF-8 among others': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(secret), Buffer.from([0x80])]),
  'Base64 of a pair': Buffer.from(`user:${secret}`).toString('base64'),
  'Base64 of a pair with another alignment': Buffer.from(`me:${secret};`).toString('base64'),
  'Base64 of it alone': Buffer.from(secret).toString('base64'),
  'Base64 for addresses': Buffer.from(`x${secret}`).toString('base64url'),
  hex: Buffer.from(secret).toString('hex'),
  'hex in capitals': Buffer.from(secret).toString('hex').toUpperCase(),
  'a query': `?a=${encodeURIComponent(secret)}`,
  'a form': new URLSearchParams({ a: secret }).toString(),
  JSON: JSON.stringify({ a: secret }),
  'JSON in JSON': JSON.stringify({ a: JSON.stringify({ b: secret }) }),
  'a gzip member among others': Buffer.concat([Buffer.from('head'), gzipSync(secret), gzipSync('tail')]),
  'Base64 in gzip': gzipSync(Buffer.from(`:${secret}`).toString('base64')),
};

test.each(Object.entries(hidden))('finds a secret in %s', (location, content) => {
  expect(findLeaks({ canary: secret }, { [location]: content }).length).toBeGreaterThan(0);
});

test('does not match another secret', () => {
  const other = secret.replace('0001', '0002');
  const places = Object.fromEntries(
    Object.entries(encodingsOf(other)).map(([encoding, forms]) => [encoding, forms.join('\n')]),
  );
  expect(findLeaks({ canary: secret }, places)).toEqual([]);
  expect(Object.keys(places)).toHaveLength(6);
  expect(() => findLeaks({ short: 'short' }, places)).toThrow('too short');
});
