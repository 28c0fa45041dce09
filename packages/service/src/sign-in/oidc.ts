import type * as openid from 'openid-client';
import type { Clock } from '../clock.js';
import type { Flow } from './flows.js';
import { SignInProblem } from './sign-in-problem.js';

/** The identity provider of the operator. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret?: string;
  /** Counts an address as confirmed if the provider does not say whether it is. */
  trustEmail: boolean;
}

/** What the provider says about who signed in. */
export interface OidcIdentity {
  issuer: string;
  subject: string;
  email: unknown;
  emailVerified: boolean;
  name: string | undefined;
}

/** Signs users in with OpenID Connect: code flow with PKCE, state and nonce. */
export interface Oidc {
  /**
   * Returns the address of the provider, and what the browser must bring back.
   * @param email address to suggest there
   * @throws SignInProblem `unavailable`
   */
  begin(email: string | undefined): Promise<{ url: string; checks: NonNullable<Flow['oidc']> }>;
  /**
   * Redeems the code that the browser brought back.
   * @param query the query of the request, with the question mark
   * @throws SignInProblem
   */
  complete(query: string, checks: NonNullable<Flow['oidc']>): Promise<OidcIdentity>;
}

/** Milliseconds for which the configuration of the provider is kept. Keys are read again as needed. */
const DISCOVERY_TTL_MS = 3_600_000;
const TIMEOUT_SECONDS = 10;

/**
 * Requests go directly to the provider and not through the egress guard: its address is the operator's,
 * often a private one, and opening it in the guard would open it for connectors.
 * @param redirectUri address of `/v1/login/callback`
 */
export function createOidc(settings: OidcSettings, redirectUri: string, clock: Clock): Oidc {
  let known: { until: number; configuration: Promise<openid.Configuration> } | undefined;

  function configuration(): Promise<openid.Configuration> {
    if (known && known.until > clock.elapsed()) return known.configuration;
    const found = { until: clock.elapsed() + DISCOVERY_TTL_MS, configuration: discover(settings) };
    known = found;
    found.configuration.catch(() => {
      if (known === found) known = undefined;
    });
    return found.configuration;
  }

  return {
    async begin(email) {
      const client = await import('openid-client');
      const config = await configuration().catch((cause: unknown) => {
        throw new SignInProblem('unavailable', { cause });
      });
      const verifier = client.randomPKCECodeVerifier();
      const checks = { state: client.randomState(), nonce: client.randomNonce(), verifier };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: checks.state,
        nonce: checks.nonce,
        ...(email !== undefined && { login_hint: email }),
      });
      return { url: url.href, checks };
    },

    async complete(query, { state, nonce, verifier }) {
      const client = await import('openid-client');
      const config = await configuration().catch((cause: unknown) => {
        throw new SignInProblem('unavailable', { cause });
      });
      try {
        const tokens = await client.authorizationCodeGrant(config, new URL(redirectUri + query), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new SignInProblem('provider');
        // Many providers put the address into the response of the user info endpoint only.
        const about =
          claims['email'] === undefined && config.serverMetadata().userinfo_endpoint !== undefined
            ? { ...claims, ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)) }
            : claims;
        const { email, email_verified: verified, name } = about;
        return {
          issuer: claims.iss,
          subject: claims.sub,
          email,
          emailVerified: verified === true || (verified === undefined && settings.trustEmail),
          name: typeof name === 'string' ? name : undefined,
        };
      } catch (cause) {
        if (cause instanceof SignInProblem) throw cause;
        if (cause instanceof client.AuthorizationResponseError) throw new SignInProblem('denied', { cause });
        throw new SignInProblem('provider', { cause });
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<openid.Configuration> {
  const client = await import('openid-client');
  const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  const found = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
    execute: insecure,
    timeout: TIMEOUT_SECONDS,
  });
  const server = found.serverMetadata();
  const config = new client.Configuration(server, clientId, clientSecret, authentication(client, server, clientSecret));
  config.timeout = TIMEOUT_SECONDS;
  for (const allow of insecure) allow(config);
  // Verifies the signature of ID tokens as well, besides the TLS connection that they come from.
  client.enableNonRepudiationChecks(config);
  return config;
}

/** Returns how to authenticate: `client_secret_basic` is what a provider supports if it names nothing. */
function authentication(
  client: typeof openid,
  server: openid.ServerMetadata,
  secret: string | undefined,
): openid.ClientAuth {
  if (secret === undefined) return client.None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}
