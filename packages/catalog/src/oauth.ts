/**
 * Declarative definition of how a customer gives access to their account at a vendor: OAuth 2.0
 * authorization code grant with PKCE (RFC 6749, section 4.1, and RFC 7636). The operator registers
 * a client at the vendor; the customer signs in there instead of pasting a token.
 */

/**
 * URL with `https://`. A `{{/settings/...}}` in it is part of the host name or of the path, or the whole
 * origin, and is marked `x-destination`.
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
  token_url: OAuthTemplate;
  /** Default: `token_url`. */
  refresh_url?: OAuthTemplate;
  /**
   * How the host may end, each with a dot at its beginning, if a setting is the whole origin of an
   * address: the client's secret is sent to no other host.
   */
  suffixes?: readonly string[];
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
  /**
   * Offered only while these settings have these values, besides the `x-when` of the secret. `or_absent`:
   * or none, for a setting without a default.
   */
  when?: readonly { path: string; in: readonly string[]; or_absent?: true }[];
  /**
   * `when` names one choice, which is of use with a connected account only: a service without a client
   * at the vendor does not offer it.
   */
  needs_client?: true;
  /** Tokens of accounts are accepted at another address than `base_url` of `poll`. */
  site?: OAuthSite;
}

/** Finds the address for one of the sites that an account has access to. */
export interface OAuthSite {
  /** Lists the sites, as a JSON array, in the response to a GET request with the token. */
  list_url: string;
  /** Where a site of the list says its address. */
  match: OAuthPath;
  /** The address of the site, from settings: `https://{{/settings/domain}}`. */
  address: string;
  /** Where a site of the list says its ID. */
  id: OAuthPath;
  /** What requests are sent to instead of `base_url`, with `{{site}}` for the ID. */
  base_url: string;
}

/** The definition of a type with its provider resolved. */
export interface OAuthDefinition
  extends OAuthProvider, Pick<OAuthUse, 'provider' | 'secret' | 'scopes' | 'when' | 'needs_client' | 'site'> {}
