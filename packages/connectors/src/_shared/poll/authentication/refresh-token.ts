import type { PollRefreshToken } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { Exchanged } from '@connector-frame/engine/connector-api';
import { failed } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';
import type { Credentials } from '../signing.js';
import { readField } from './credentials.js';
import { tokenRequest } from './token-request.js';
import { tokenIn, type ObtainToken, type Token } from './token.js';

/**
 * OAuth 2.0 refresh token. A new refresh token is stored before the access token is used. Without a
 * store, it is kept in memory.
 */
export function refreshToken(method: PollRefreshToken, credentials: Credentials): ObtainToken {
  const { config, secrets, requester, now, isTest, subject } = credentials;
  const field = method.refresh_token;
  const create = tokenRequest(method, credentials);
  const stored = secrets?.of(field.slice('/secrets/'.length));
  let current = readField(config, field);

  async function exchange(value: string): Promise<Exchanged<Token>> {
    // Not the caller's signal: an aborted request may have replaced the token already.
    const { signal } = new AbortController();
    const fields = { grant_type: 'refresh_token', refresh_token: value };
    const response = await requester(create(fields), signal);
    const replacement: unknown = getAt(response.body, method.replacement ?? '/refresh_token');
    return {
      result: tokenIn(response, method, credentials),
      ...(typeof replacement === 'string' && replacement !== '' && { replacement }),
    };
  }

  return async (signal, rejected) => {
    signal.throwIfAborted();
    if (stored) {
      const isUsable = (token: Token): boolean => token.until > now() && token.value !== rejected;
      return stored.exchange(exchange, (earlier) => (isToken(earlier) && isUsable(earlier) ? earlier : undefined));
    }
    if (isTest && method.rotates) {
      const message = `${subject.product} accepts this token only once, so it can't be tested before it is saved.`;
      throw new PollError(failed('unsupported', message, { hint: 'Save, then look at the status.' }), 'permanent');
    }
    const { result, replacement } = await exchange(current);
    current = replacement ?? current;
    return result;
  };
}

const isToken = (value: unknown): value is Token => {
  if (typeof value !== 'object' || value === null) return false;
  return 'value' in value && typeof value.value === 'string' && 'until' in value && typeof value.until === 'number';
};
