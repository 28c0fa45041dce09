import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.js';
import { ApiError } from '../api-error.js';
import type { Vault } from '../secrets/vault.js';
import type { StoredApiKey } from '../store/store.js';
import type { KeyCreator } from '../store/tables.js';
import { idOf, nameOf, type Principal } from './principal.js';
import type { Grant } from '../permissions.js';

/** Lets people and secret scanners recognize a leaked key. */
const PREFIX = 'cfk_';

export interface NewApiKey {
  row: StoredApiKey;
  /** The key in plain text. It is returned once and not stored. */
  text: string;
}

export interface ApiKeyParams {
  organizationId: string;
  name: string;
  description?: string;
  /** A role of the organization or a default role, or permissions. */
  access: { roleId: string } | { permissions: readonly Grant[] };
  createdBy: KeyCreator;
  /** Whether it acts for the operator of the service, besides its organization. Default false. */
  isOperator?: boolean;
  expiresAt?: Date;
  /** A key chosen by the operator: 16 to 200 visible ASCII characters. Default: 256 random bits. */
  text?: string;
}

/**
 * Creates an API key and the row to store: the key's HMAC and a hint to recognize it in a list.
 * @throws ApiError 400 if the given key is not valid
 */
export function newApiKey(params: ApiKeyParams, vault: Vault, clock: Clock): NewApiKey {
  const { text, digest, hint } = newToken(vault, params.text);
  const now = new Date(clock.now());
  const { access } = params;
  return {
    text,
    row: {
      id: randomUUID(),
      organizationId: params.organizationId,
      name: params.name,
      description: params.description ?? '',
      digest,
      hint,
      permissions: 'permissions' in access ? [...new Set(access.permissions)] : [],
      roleId: 'roleId' in access ? access.roleId : null,
      tokenVersion: 1,
      createdAt: now,
      updatedAt: now,
      expiresAt: params.expiresAt ?? null,
      revokedAt: null,
      createdBy: params.createdBy,
      isOperator: params.isOperator ?? false,
    },
  };
}

/**
 * Returns the text of a key with what is stored of it.
 * @param text a key chosen by the operator; absent: 256 random bits
 * @throws ApiError 400 if the given key is not valid
 */
export function newToken(
  vault: Vault,
  text = `${PREFIX}${randomBytes(32).toString('base64url')}`,
): Pick<StoredApiKey, 'digest' | 'hint'> & { text: string } {
  if (!/^[\x21-\x7e]{16,200}$/.test(text)) {
    throw new ApiError(400, 'invalid_request', 'An API key is 16 to 200 visible ASCII characters.');
  }
  return { text, digest: vault.digest('api-key', text), hint: `${text.slice(0, 6)}…${text.slice(-2)}` };
}

/** Returns who creates a key by a request. */
export const creatorOf = (principal: Principal): KeyCreator => ({
  type: principal.type === 'key' ? 'api_key' : 'user',
  id: idOf(principal),
  name: nameOf(principal),
});

/** Returns whether a key is valid at a given time (milliseconds since the epoch). */
export function isLive(key: StoredApiKey, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > now);
}
