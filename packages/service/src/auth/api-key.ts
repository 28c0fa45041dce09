import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.js';
import { ApiError } from '../http/api-error.js';
import type { Vault } from '../secrets/vault.js';
import type { ApiKey } from '../store/store.js';
import type { Permission } from './permissions.js';

/** Tells a leaked key apart from any other random text, for people and for secret scanners. */
const PREFIX = 'cfk_';

export interface NewApiKey {
  row: ApiKey;
  /** The key itself: shown to its owner now, and never again. */
  text: string;
}

export interface ApiKeyWish {
  organizationId: string;
  name: string;
  permissions: readonly Permission[];
  expiresAt?: Date;
  /** A key the operator made, at least 16 characters. Default: 256 random bits. */
  text?: string;
}

/** A key to be stored: its HMAC, and enough of its text to recognize it in a list. */
export function newApiKey(wish: ApiKeyWish, vault: Vault, clock: Clock): NewApiKey {
  const text = wish.text ?? `${PREFIX}${randomBytes(32).toString('base64url')}`;
  if (!/^[\x21-\x7e]{16,200}$/.test(text)) {
    throw new ApiError(400, 'invalid_request', 'An API key is 16 to 200 visible ASCII characters.');
  }
  return {
    text,
    row: {
      id: randomUUID(),
      organizationId: wish.organizationId,
      name: wish.name,
      digest: vault.digest('api-key', text),
      hint: `${text.slice(0, 6)}…${text.slice(-2)}`,
      permissions: [...new Set(wish.permissions)],
      createdAt: new Date(clock.now()),
      expiresAt: wish.expiresAt ?? null,
      revokedAt: null,
    },
  };
}

/** Whether a key may be used at a time (ms since the epoch). */
export function isLive(key: ApiKey, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > now);
}
