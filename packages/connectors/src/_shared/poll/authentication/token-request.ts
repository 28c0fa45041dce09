import type { PollClientCredentials, PollRefreshToken, PollTokenRequest } from '@connector-frame/catalog/types';
import { readAddress } from '../address.js';
import { basic, setHeader, type Credentials, type Grant } from '../signing.js';
import { fieldOf, fillAll, fillCredential } from './credentials.js';
import { tokenIn, type ObtainToken } from './token.js';

/** OAuth 2.0 client credentials. */
export function clientCredentials(method: PollClientCredentials, credentials: Credentials): ObtainToken {
  const create = tokenRequest(method, credentials);
  const grant = { grant_type: method.grant_type ?? 'client_credentials' };
  return async (signal) => tokenIn(await credentials.requester(create(grant), signal), method, credentials);
}

/** Creates requests to a token endpoint from their fields. */
export function tokenRequest(
  method: PollTokenRequest | PollRefreshToken,
  { config, subject }: Credentials,
): (fields: Readonly<Record<string, string>>) => Grant {
  const url = readAddress(method.token_url, { settings: config.settings }, subject);
  const id = fillCredential(method.client_id, config);
  const secret = method.client_secret === undefined ? undefined : fillCredential(method.client_secret, config);
  const scope = fillAll(Object.fromEntries((method.scopes ?? []).entries()), config).map(([, value]) => value);
  const further: Record<string, string> = {
    ...(scope.length > 0 && { scope: scope.join(' ') }),
    ...Object.fromEntries(fillAll(method.audience === undefined ? {} : { audience: method.audience }, config)),
    ...Object.fromEntries(fillAll(method.parameters, config)),
  };
  return (fields) => {
    const headers = new Headers({ accept: 'application/json' });
    const client: Record<string, string> = {};
    if (method.client === 'body')
      Object.assign(client, { client_id: id, ...(secret !== undefined && { client_secret: secret }) });
    // RFC 6749, section 3.2.1: a client without a secret identifies itself in the body.
    else if (secret === undefined) client['client_id'] = id;
    else setHeader(headers, 'authorization', basic(id, secret), fieldOf(method.client_secret ?? ''));
    for (const [name, value] of fillAll(method.headers, config))
      setHeader(headers, name, value, fieldOf(method.headers?.[name] ?? ''));
    const isJson = method.body === 'json';
    headers.set('content-type', isJson ? 'application/json' : 'application/x-www-form-urlencoded');
    const all = { ...fields, ...client, ...further };
    return {
      url: new URL(url),
      headers,
      body: isJson ? JSON.stringify(all) : new URLSearchParams(all).toString(),
    };
  };
}
