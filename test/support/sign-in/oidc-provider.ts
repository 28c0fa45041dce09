import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An account at the provider, by its subject. */
export interface ProviderAccount {
  email?: string;
  email_verified?: boolean;
  name?: string;
}

export interface OidcServer {
  issuer: string;
  clientId: string;
  clientSecret: string;
  accounts: Map<string, ProviderAccount>;
  /**
   * Signs in at the provider as a browser does.
   * @param url the authorization request
   * @returns the address that the provider sends the browser back to
   */
  signIn(url: string, subject: string): Promise<string>;
  /** Returns whether the provider accepts an access token. */
  isActive(token: string): Promise<boolean>;
  /** Sends a request to the token endpoint. */
  token(parameters: Record<string, string>): Promise<Response>;
  /** Ends one access token. The refresh token stays. */
  revokeAccess(token: string): Promise<void>;
  /** Ends all grants, as an administrator who removes the client. */
  revokeAll(): Promise<void>;
  /** Refuses the sign-in, as a user who cancels. */
  cancel(url: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Starts `oidc-provider`, a certified OpenID provider, on loopback. It requires PKCE, and has addresses in
 * its user info response only.
 *
 * @param refresh issues refresh tokens, each of which it accepts once
 */
export async function startOidcServer(
  redirectUri: string,
  {
    authentication = 'client_secret_basic',
    refresh = false,
  }: { authentication?: 'client_secret_basic' | 'client_secret_post'; refresh?: boolean } = {},
): Promise<OidcServer> {
  const accounts = new Map<string, ProviderAccount>();
  const [clientId, clientSecret] = ['connector-frame', 'a-client-secret-of-the-test'];
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has a port
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { warn, info } = console;
  // The provider warns on the console that its pages are for development.
  console.warn = console.info = () => undefined;
  const { Provider } = await import('oidc-provider');
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: authentication,
        grant_types: ['authorization_code', ...(refresh ? ['refresh_token'] : [])],
      },
    ],
    ...(refresh && {
      scopes: ['openid', 'offline_access', 'read', 'read:audit_log'],
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
    }),
    features: { introspection: { enabled: true, allowedPolicy: () => true }, devInteractions: { enabled: true } },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ sub: id, ...accounts.get(id) }),
    }),
    cookies: { keys: ['a key of the test'] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, RefreshToken: 86_400 },
  });
  Object.assign(console, { warn, info });
  const handle = provider.callback();
  const grants = new Set<string>();
  provider.on('grant.success', (context) => {
    const grantId = context.oidc.entities.Grant?.jti;
    if (grantId !== undefined) grants.add(grantId);
  });
  const credentials = { client_id: clientId, client_secret: clientSecret };
  const post = (path: string, parameters: Record<string, string>): Promise<Response> =>
    fetch(issuer + path, {
      method: 'POST',
      body: new URLSearchParams(
        authentication === 'client_secret_post' ? { ...credentials, ...parameters } : parameters,
      ),
      ...(authentication === 'client_secret_basic' && {
        headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
      }),
    });
  server.on('request', (request, response) => void handle(request, response));

  /** Follows redirects within the provider, and answers its pages. */
  async function visit(url: string, answer: (page: string) => Record<string, string> | 'cancel'): Promise<string> {
    const cookies = new Map<string, string>();
    let next = new URL(url);
    let body: Record<string, string> | undefined;
    for (let hop = 0; hop < 12; hop += 1) {
      if (next.origin !== issuer) return next.href;
      const response = await fetch(next, {
        redirect: 'manual',
        method: body ? 'POST' : 'GET',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(body && { body: new URLSearchParams(body) }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const page = await response.text();
      const location = response.headers.get('location');
      body = undefined;
      if (location !== null) next = new URL(location, next);
      else {
        const reply = answer(page);
        if (reply === 'cancel') next = new URL(/href="([^"]*abort)"/.exec(page)?.[1] ?? '', next);
        else {
          next = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? '', next);
          body = reply;
        }
      }
    }
    throw new Error('The provider does not come to an end.');
  }

  return {
    issuer,
    clientId,
    clientSecret,
    accounts,
    signIn: (url, subject) =>
      visit(url, (page) =>
        page.includes('name="login"') ? { prompt: 'login', login: subject, password: 'x' } : { prompt: 'consent' },
      ),
    async isActive(token) {
      const body: { active?: boolean } = await (await post('/token/introspection', { token })).json();
      return body.active === true;
    },
    token: (parameters) => post('/token', parameters),
    async revokeAccess(token) {
      await (await provider.AccessToken.find(token))?.destroy();
    },
    async revokeAll() {
      const { RefreshToken, AccessToken, Grant } = provider;
      for (const grantId of grants) {
        await RefreshToken.revokeByGrantId(grantId);
        await AccessToken.revokeByGrantId(grantId);
        await (await Grant.find(grantId))?.destroy();
      }
      grants.clear();
    },
    cancel: (url) => visit(url, () => 'cancel'),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
