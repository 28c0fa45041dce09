import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { GrantedTokens } from '@connector-frame/engine/connector-api';
import { setHeader, type Authentication } from './signing.js';

/**
 * Returns how requests are signed with the account that the customer connected, or `undefined` if the
 * secret was entered. Access tokens are bearer tokens (RFC 6750), whatever the vendor's keys are.
 */
export function connectedAccount(
  { oauth }: ConnectorTypeData,
  tokens: GrantedTokens | undefined,
): Authentication | undefined {
  const field = oauth?.secret.slice('/secrets/'.length);
  if (!oauth || field === undefined || !tokens?.has(field)) return undefined;
  let last: string | undefined;
  let rejected: string | undefined;
  return {
    async sign({ headers }) {
      last = await tokens.get(field, rejected);
      setHeader(headers, 'authorization', `Bearer ${last}`, oauth.secret);
    },
    renew({ status }) {
      if (status !== 401 || last === undefined || last === rejected) return false;
      rejected = last;
      return true;
    },
  };
}
