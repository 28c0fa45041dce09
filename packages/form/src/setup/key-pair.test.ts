import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { createPrivateKey as create, publicKeyOf } from './key-pair.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const pem = (type: 'pkcs1' | 'pkcs8', more = {}): string =>
  privateKey.export({ type, format: 'pem', ...more }).toString();

const fingerprint = (der: Buffer): string => createHash('sha256').update(der).digest('base64');

it.each([
  ['PKCS #8', pem('pkcs8')],
  ['PKCS #1', pem('pkcs1')],
  ['with spaces around it and CRLF', `  ${pem('pkcs8').replaceAll('\n', '\r\n')} `],
])('derives the public key of a private key that node:crypto made: %s', async (_, text) => {
  expect(await publicKeyOf(text)).toBe(spki);
});

it.each([
  ['nothing', ''],
  ['a public key', publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ['an encrypted key', pem('pkcs8', { cipher: 'aes-256-cbc', passphrase: 'x' })],
  [
    'a key of another kind',
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  ],
  ['half a key', `${pem('pkcs8').slice(0, 500)}\n-----END PRIVATE KEY-----`],
])('derives nothing from %s', async (_, text) => {
  expect(await publicKeyOf(text)).toBeUndefined();
});

it('creates a key of 2,048 bits that node:crypto reads, with the same fingerprint', async () => {
  const text = await create();
  const key = createPrivateKey(text);
  expect([key.asymmetricKeyType, key.asymmetricKeyDetails?.modulusLength]).toEqual(['rsa', 2048]);
  const expected = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const found = Buffer.from((await publicKeyOf(text)) ?? '', 'base64');
  expect(fingerprint(found)).toBe(fingerprint(expected));
  expect(await create()).not.toBe(text);
});
