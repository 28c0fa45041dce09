import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { privateKeyProblem } from './private-key.js';
import { validateConfig } from './validate-config.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encryption = { cipher: 'aes-256-cbc', passphrase: 'secret' };
const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' });
const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' });
const encryptedPkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption });
const encryptedPkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem', ...encryption });

/** The unencrypted beginning of an OpenSSH key: magic, then the name of its cipher. */
const openSsh = (cipher: string): string => {
  const length = Buffer.from([0, 0, 0, cipher.length]);
  const body = Buffer.concat([Buffer.from('openssh-key-v1\0'), length, Buffer.from(`${cipher} and the rest`)]);
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
};
const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

describe('privateKeyProblem', () => {
  it.each([
    ['PKCS #8', pkcs8],
    ['PKCS #1', pkcs1],
    ['OpenSSH', openSsh('none')],
    ['a key after its certificate', certificate + pkcs8.toString()],
    ['a password', 'correct horse battery staple'],
    ['nothing', ''],
  ])('accepts %s', (_, value) => {
    expect(privateKeyProblem('plain', value.toString())).toBeUndefined();
    expect(privateKeyProblem('encrypted', value.toString())).toBeUndefined();
  });

  it.each([
    ['public_key', publicKey.export({ type: 'spki', format: 'pem' })],
    ['public_key', publicKey.export({ type: 'pkcs1', format: 'pem' })],
    ['public_key', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ ada@acme\n'],
    ['public_key', ' ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI'],
    ['public_key', 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY ada'],
    ['public_key', 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5 ada'],
    ['public_key', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----'],
    ['certificate', certificate],
    ['certificate', certificate.replaceAll('CERTIFICATE', 'CERTIFICATE REQUEST')],
  ])('recognizes a %s: %j', (found, value) => {
    expect(privateKeyProblem('plain', value.toString())).toBe(found);
    expect(privateKeyProblem('encrypted', value.toString())).toBe(found);
  });

  it.each([
    ['PKCS #8', encryptedPkcs8],
    ['PKCS #1', encryptedPkcs1],
    ['OpenSSH', openSsh('aes256-ctr')],
  ])('rejects an encrypted key only where its password cannot be entered: %s', (_, value) => {
    expect(privateKeyProblem('plain', value.toString())).toBe('encrypted');
    expect(privateKeyProblem('encrypted', value.toString())).toBeUndefined();
  });
});

describe('validateConfig', () => {
  it('names the field and what was found, whatever the format of the field', () => {
    const settings = { type: 'object', properties: {}, additionalProperties: false } as const;
    const key = { type: 'string', writeOnly: true, 'x-private-key': 'plain' } as const;
    const properties = { pem: { ...key, format: 'pem' }, any: { ...key, format: 'multiline' } } as const;
    const schema = { settings, secrets: { ...settings, properties } };
    const secrets = { pem: certificate, any: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ ada@acme' };
    expect(validateConfig(schema, { settings: {}, secrets })).toEqual([
      { path: '/secrets/pem', code: 'format', params: { format: 'private-key', found: 'certificate' } },
      { path: '/secrets/any', code: 'format', params: { format: 'private-key', found: 'public_key' } },
    ]);
  });
});
