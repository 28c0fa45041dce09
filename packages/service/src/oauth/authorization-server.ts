import type { OAuthDefinition } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { Egress } from '@connector-frame/engine/egress';
import * as client from 'openid-client';
import { fillAddress } from './addresses.js';
import type { OAuthClient } from './clients.js';
import type { Grant } from './grant.js';
import { OAuthProblem, type OAuthProblemCode } from './oauth-problem.js';

export interface AuthorizationServerOptions {
  definition: OAuthDefinition;
  client: OAuthClient;
  /** Settings that are part of the addresses. */
  settings: Readonly<Record<string, unknown>>;
  redirectUri: string;
  egress: Egress;
  now: () => number;
}

/** What the browser must not know and what proves that it is the one that started. */
export interface Checks {
  state: string;
  verifier: string;
}

/** The authorization server of a vendor. All requests go through the egress guard. */
export interface AuthorizationServer {
  /** Returns the address to send the customer to. */
  authorizationUrl(checks: Checks): Promise<string>;
  /**
   * Redeems the code that the browser brought back.
   * @param query of the request, with the question mark
   * @returns the tokens, and the name of the account if the vendor tells it
   * @throws OAuthProblem
   */
  redeem(query: string, checks: Checks): Promise<{ grant: Grant; account: string | null }>;
  /** @throws OAuthProblem */
  refresh(refreshToken: string): Promise<Grant>;
}

const TIMEOUT_SECONDS = 10;
const MAX_BYTES = 256 * 1024;
const MAX_ACCOUNT = 200;

export const newChecks = (): Checks => ({ state: client.randomState(), verifier: client.randomPKCECodeVerifier() });

export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { definition, redirectUri, egress, now } = options;
  const { client_id: id, client_secret: secret } = options.client;
  const fill = (template: string): string => {
    const address = fillAddress(template, options.settings, definition.suffixes);
    if (address === undefined) throw new OAuthProblem('refused');
    return address;
  };
  const authorizationUrl = options.client.authorization_url ?? fill(definition.authorization_url);
  const tokenUrl = options.client.token_url ?? fill(definition.token_url);
  const refreshUrl = options.client.token_url ?? (definition.refresh_url && fill(definition.refresh_url)) ?? tokenUrl;
  const scopes: Readonly<Record<string, string>> =
    definition.scopes.length > 0
      ? { [definition.scope_parameter ?? 'scope']: definition.scopes.join(definition.scope_separator ?? ' ') }
      : {};
  const tokenParameters = definition.repeat_scopes ? scopes : {};
  /** The last response of the token endpoint, for the name of the account. */
  let last: unknown;

  const configOf = (endpoint: string): client.Configuration => {
    const config = new client.Configuration(
      {
        issuer: definition.issuer ?? new URL(authorizationUrl).origin,
        authorization_endpoint: authorizationUrl,
        token_endpoint: endpoint,
      },
      id,
      undefined,
      definition.client === 'basic' ? basicAuthentication(id, secret) : client.ClientSecretPost(secret),
    );
    config.timeout = TIMEOUT_SECONDS;
    // Only an operator can name such an address.
    if (!endpoint.startsWith('https:')) client.allowInsecureRequests(config);
    config[client.customFetch] = async (url, { method, headers, body, signal }) => {
      const sent = new Headers(headers);
      const form = body instanceof URLSearchParams ? body.toString() : textOf(body);
      const isJson = definition.body === 'json';
      if (isJson) sent.set('content-type', 'application/json');
      const response = await egress.fetch(url, {
        method,
        headers: sent,
        body: isJson ? JSON.stringify(Object.fromEntries(new URLSearchParams(form))) : form,
        maxBytes: MAX_BYTES,
        ...(signal && { signal }),
      });
      last = await response.json().catch(() => undefined);
      return standardResponse(response.status, last, definition);
    };
    return config;
  };
  const config = configOf(tokenUrl);

  const toProblem = (cause: unknown): OAuthProblem => new OAuthProblem(codeOf(cause, definition), { cause });
  const grantOf = ({
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: lifetime,
  }: Tokens): Grant => ({
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetime !== undefined && { expiresAt: now() + lifetime * 1_000 }),
  });

  return {
    async authorizationUrl({ state, verifier }) {
      const url = client.buildAuthorizationUrl(config, {
        ...definition.parameters,
        redirect_uri: redirectUri,
        state,
        ...(definition.pkce !== false && {
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }),
        ...scopes,
      });
      return url.href;
    },

    async redeem(query, { state, verifier }) {
      const url = new URL(redirectUri + query);
      // Its own redirect URI tells the vendor (RFC 9700, section 4.4.2.2).
      if (definition.issuer === undefined) url.searchParams.delete('iss');
      try {
        const tokens = await client.authorizationCodeGrant(
          config,
          url,
          { expectedState: state, ...(definition.pkce !== false && { pkceCodeVerifier: verifier }) },
          tokenParameters,
        );
        const grant = grantOf(tokens);
        return { grant, account: await accountOf(grant.accessToken) };
      } catch (cause) {
        throw toProblem(cause);
      }
    },

    async refresh(refreshToken) {
      try {
        const grant = grantOf(await client.refreshTokenGrant(configOf(refreshUrl), refreshToken, tokenParameters));
        // A vendor that does not rotate the refresh token need not repeat it.
        return { refreshToken, ...grant };
      } catch (cause) {
        throw toProblem(cause);
      }
    },
  };

  /** The name is for people to recognize. Without it, the account is connected all the same. */
  async function accountOf(accessToken: string): Promise<string | null> {
    const { account } = definition;
    if (!account) return null;
    try {
      const found =
        account.from === 'url' ? await readUrl(fill(account.url)) : account.from === 'token' ? last : claimsIn(last);
      const name: unknown = getAt(found, account.path);
      return typeof name === 'string' ? name.replaceAll(/\p{Cc}/gu, '').slice(0, MAX_ACCOUNT) || null : null;
    } catch {
      return null;
    }

    async function readUrl(url: string): Promise<unknown> {
      const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
      const response = await egress.fetch(url, { headers, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_SECONDS * 1_000 });
      return response.json();
    }
  }
}

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/**
 * Signs token requests in with the `Authorization` header (RFC 6749, section 2.3.1). `ClientSecretBasic` also encodes
 * `-`, `.` and `_`, which are in the client IDs of many vendors; some of them don't decode it.
 */
function basicAuthentication(id: string, secret: string): client.ClientAuth {
  const value = Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64');
  return (_server, _client, _body, headers) => headers.set('authorization', `Basic ${value}`);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

type Tokens = Pick<client.TokenEndpointResponse, 'access_token' | 'refresh_token' | 'expires_in'>;

/** Returns the response of a token endpoint as RFC 6749 defines it, with nothing else in it. */
function standardResponse(status: number, body: unknown, { response = {} }: OAuthDefinition): Response {
  const at = (name: 'access_token' | 'refresh_token' | 'expires_in'): unknown => {
    const path = response[name];
    return (path === undefined ? undefined : getAt(body, path)) ?? getAt(body, `/${name}`);
  };
  const accessToken = at('access_token');
  if (status >= 200 && status < 300 && typeof accessToken === 'string' && accessToken !== '') {
    const refreshToken = at('refresh_token');
    const lifetime = Number(at('expires_in'));
    return Response.json({
      access_token: accessToken,
      token_type: 'bearer',
      ...(typeof refreshToken === 'string' && refreshToken !== '' && { refresh_token: refreshToken }),
      ...(lifetime > 0 && { expires_in: lifetime }),
    });
  }
  // Some vendors report errors with status 200, or under another name.
  const error: unknown = getAt(body, '/error') ?? getAt(body, '/status');
  return Response.json(
    { error: typeof error === 'string' && /^[\x21-\x7e]{1,100}$/.test(error) ? error : 'unknown' },
    { status: status >= 400 ? status : 400 },
  );
}

const CLIENT_ERRORS = [
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
  'bad_client_secret',
  'invalid_client_id',
];

function codeOf(cause: unknown, { ended = [] }: OAuthDefinition): OAuthProblemCode {
  if (cause instanceof client.AuthorizationResponseError) return cause.error === 'access_denied' ? 'denied' : 'refused';
  if (cause instanceof client.ResponseBodyError) {
    const { error, status } = cause;
    if (error === 'invalid_grant' || ended.includes(error)) return 'ended';
    if (CLIENT_ERRORS.includes(error)) return 'client';
    return status >= 500 || status === 429 || status === 408 ? 'unreachable' : 'refused';
  }
  // Without a response, the library fails with the error of `fetch`.
  return cause instanceof client.ClientError && cause.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM'
    ? 'refused'
    : 'unreachable';
}

/** Not verified: they come from the vendor over TLS, and are only shown. */
function claimsIn(tokens: unknown): unknown {
  const idToken: unknown = getAt(tokens, '/id_token');
  const payload = typeof idToken === 'string' ? (idToken.split('.')[1] ?? '') : '';
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}
