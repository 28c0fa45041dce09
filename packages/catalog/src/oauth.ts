/**
 * Declarative definition of how a customer gives access to their account at a vendor: OAuth 2.0
 * authorization code grant with PKCE (RFC 6749, section 4.1, and RFC 7636). The operator registers
 * a client at the vendor; the customer signs in there instead of pasting a token.
 */

/**
 * URL with `https://`. A `{{/settings/...}}` in it is part of the host name, or the whole origin, and
 * is marked `x-destination`.
 */
export type OAuthTemplate = string;
/** JSON Pointer into a response. */
export type OAuthPath = string;

/** An authorization server, shared by all types of its vendor: `providers/<id>.json`. */
export interface OAuthProvider {
  /** Name on the button: "Connect with Google". */
  name: string;
  /** Vendor pages that the definition was built from. */
  documentation: readonly string[];
  authorization_url: OAuthTemplate;
  /** Also refreshes tokens. */
  token_url: OAuthTemplate;
  /** Issuer identifier, if the vendor sends `iss` with the authorization response (RFC 9207). */
  issuer?: string;
  /** Where the client's credentials are sent: the `Authorization` header, or the body. */
  client: 'basic' | 'body';
  /** Encoding of token requests. Default `form`. */
  body?: 'form' | 'json';
  /**
   * The vendor accepts PKCE from public clients only, or does not know it and rejects unknown parameters;
   * `state` and the client's secret still protect the code.
   */
  pkce?: false;
  /** Parameters of the authorization request that the vendor needs for a refresh token. */
  parameters?: Readonly<Record<string, string>>;
  /** Parameter with the scopes. Default `scope`. */
  scope_parameter?: string;
  /** Default: a space. */
  scope_separator?: ',' | ' ';
  /** The vendor takes the scopes of a token from the token request: they are sent there, too. */
  repeat_scopes?: true;
  /** Where the parts of a token response are, if not where RFC 6749 puts them. */
  response?: { access_token?: OAuthPath; refresh_token?: OAuthPath; expires_in?: OAuthPath };
  /**
   * Where the name of the account is, to show it in the form: in the token response, in the claims
   * of its ID token, or in the response of a GET request with the token.
   */
  account?: { from: 'token' | 'id_token'; path: OAuthPath } | { from: 'url'; url: OAuthTemplate; path: OAuthPath };
  /** Error codes of the token endpoint, besides `invalid_grant`, that mean that access has ended. */
  ended?: readonly string[];
}

/** What a type file says about consent. Properties of the provider can be overridden. */
export interface OAuthUse extends Partial<Omit<OAuthProvider, 'name' | 'documentation'>> {
  /** Name of the file in `providers`, without `.json`. */
  provider: string;
  /** Secret that holds the token: a string that is sent as a bearer token. */
  secret: string;
  scopes: readonly string[];
  /** Offered only while these settings have these values, besides the `x-when` of the secret. */
  when?: readonly { path: string; in: readonly string[] }[];
}

/** The definition of a type with its provider resolved. */
export interface OAuthDefinition extends OAuthProvider, Pick<OAuthUse, 'provider' | 'secret' | 'scopes' | 'when'> {}
