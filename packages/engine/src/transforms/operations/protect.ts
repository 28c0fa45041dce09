import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import { parseKeyPath, valueAt } from '../../connector-api/key-path.js';
import type { JsonValue } from '../../connector-api/record.js';
import { withValue } from '../edit.js';
import type { Transform } from '../operation.js';
import { defineOperation } from '../operation-type.js';

const KEY = { kind: 'key', required: true, description: 'Path of the key, such as actor.email.' } as const;

/** Returns the key in a secret, or `undefined` if it doesn't contain 32 bytes. */
function keyIn(secret: string): Buffer | undefined {
  const text = secret.trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const bytes = /^[A-Za-z0-9+/]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  return bytes?.length === 32 ? bytes : undefined;
}

/** Applies a change to the string form of a value: strings as they are, others as JSON. */
function changeText(key: string, change: (text: string) => JsonValue): Transform {
  const path = parseKeyPath(key) ?? [key];
  return (record) => {
    const value = valueAt(record, path);
    if (value === undefined || value === null) return record;
    return withValue(record, path, change(typeof value === 'string' ? value : JSON.stringify(value)));
  };
}

const encrypt = defineOperation({
  id: 'encrypt',
  name: 'Encrypt',
  description:
    'Encrypts a value with AES-256-GCM. The result is the base64 of the nonce (12 bytes), the ciphertext and the tag (16 bytes). Values that are no strings are encrypted as JSON; null is unchanged.',
  arguments: {
    key: KEY,
    algorithm: {
      kind: 'object',
      description: 'How to encrypt. Default: aes_256_gcm.',
      properties: {
        type: { kind: 'word', words: ['aes_256_gcm'], default: 'aes_256_gcm', description: 'The algorithm.' },
      },
    },
  },
  secrets: {
    encryption_key: {
      description: 'A secret with a key of 32 bytes, in base64 or hexadecimal.',
      required: true,
      problemOf: (value) => (keyIn(value) ? undefined : 'The secret is no key of 32 bytes in base64 or hexadecimal.'),
    },
  },
  compile: ({ key }, secretOf) => {
    const secret = keyIn(secretOf('encryption_key')) ?? randomBytes(32);
    return changeText(key, (text) => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', secret, nonce);
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64',
      );
    });
  },
});

const MASK_TYPES = ['full', 'partial', 'deterministic'] as const;
/** Minimum length of the secret of a deterministic mask, so that it can't be found by trying. */
const MIN_SECRET_LENGTH = 16;

const mask = defineOperation({
  id: 'mask',
  name: 'Mask',
  description: 'Replaces a value so that it can no longer be read. Null is unchanged.',
  arguments: {
    key: KEY,
    mode: {
      kind: 'object',
      description: 'How to mask. Default: full.',
      properties: {
        type: {
          kind: 'word',
          words: MASK_TYPES,
          default: 'full',
          description:
            'full: the replacement. partial: keeps some characters. deterministic: a keyed hash (HMAC-SHA-256), the same for the same value.',
        },
        replacement: {
          kind: 'text',
          maxLength: 100,
          default: '***',
          description: 'For full: the new value. For partial: in place of the hidden characters.',
        },
        keep_first: { kind: 'number', description: 'For partial: characters to keep at the start. Default 0.' },
        keep_last: { kind: 'number', description: 'For partial: characters to keep at the end. Default 0.' },
      },
    },
  },
  secrets: {
    mask_key: {
      description: `For deterministic: a secret of at least ${MIN_SECRET_LENGTH} characters.`,
      problemOf: (value) =>
        value.length >= MIN_SECRET_LENGTH ? undefined : `The secret has fewer than ${MIN_SECRET_LENGTH} characters.`,
    },
  },
  check: ({ mode }, problems, secrets) => {
    const place = problems.at('arguments', 'mode');
    for (const name of ['keep_first', 'keep_last'] as const) {
      const kept = mode?.[name] ?? 0;
      if (!Number.isInteger(kept) || kept < 0 || kept > 100) place.at(name).add('invalid', 'It is 0 to 100.');
    }
    if (mode?.type === 'deterministic' && !secrets.has('mask_key'))
      problems.at('secrets', 'mask_key').add('required', 'Refer to a secret of the organization: { "id": "..." }.');
  },
  compile: ({ key, mode }, secretOf) => {
    const { type = 'full', replacement = '***', keep_first: first = 0, keep_last: last = 0 } = mode ?? {};
    if (type === 'full') return changeText(key, () => replacement);
    if (type === 'partial') return changeText(key, (text) => partial(text, replacement, first, last));
    const secret = secretOf('mask_key');
    return changeText(key, (text) => createHmac('sha256', secret).update(text, 'utf8').digest('hex'));
  },
});

/** Hides the whole text if nothing would be hidden otherwise. */
function partial(text: string, replacement: string, first: number, last: number): string {
  const characters = Array.from(text);
  if (characters.length <= first + last) return replacement;
  return [...characters.slice(0, first), replacement, ...characters.slice(characters.length - last)].join('');
}

export const protectOperations = [encrypt, mask];
