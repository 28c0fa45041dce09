/**
 * How an input that polls its vendor's HTTP API signs in: the `authentication` of a `poll` definition.
 *
 * A credential is the pointer of a field (`/secrets/api_key`, `/settings/user`), or a text with
 * placeholders in which secrets are allowed: `x`, `{{/settings/user}}/token`,
 * `Token token={{/secrets/api_key}}`. Fields in it are required.
 */
import type { PollAddress, PollField, PollPath, PollTemplate } from './poll-request.js';

/** Pointer of a field, or a text with `{{...}}` placeholders in which secrets are allowed. */
export type PollCredential = string;

/** Headers and query parameters that carry credentials. */
export interface PollCredentialFields {
  headers?: Readonly<Record<string, PollCredential>>;
  query?: Readonly<Record<string, PollCredential>>;
}

/** A bearer token, key or password that is sent as it is. */
export type PollKeyAuthentication =
  | { kind: 'bearer'; secret: PollField }
  | { kind: 'header'; name: string; secret: PollField; prefix?: string }
  | { kind: 'query'; name: string; secret: PollField }
  /** A missing password is sent empty. */
  | { kind: 'basic'; user: PollCredential; password?: PollCredential }
  /**
   * Several of them. `body`: properties of a JSON body, or fields of a form. `optional`: without its
   * secret, a header or parameter is omitted.
   */
  | ({ kind: 'fields'; body?: Readonly<Record<string, PollCredential>>; optional?: true } & PollCredentialFields);

/** HTTP digest (RFC 7616) with MD5 or SHA-256, as the vendor asks. */
export interface PollDigest {
  kind: 'digest';
  user: PollCredential;
  password: PollCredential;
}

/**
 * The vendor returns the host for further requests beside the token. Its name must end with one of
 * `suffixes`, each of which begins with a dot; otherwise the token is sent nowhere.
 */
export interface PollTokenHost {
  /** Path of a host name or `https` URL in the response. */
  path: PollPath;
  suffixes: readonly string[];
}

/** A token that a token endpoint returns (RFC 6749, section 5.1), and how it is used. */
export interface PollTokenUse {
  /** Path of the token in the response. Default `/access_token`. */
  token?: PollPath;
  /** Path of its lifetime in seconds. Default `/expires_in`; if absent there, `lifetime_seconds`. */
  expires?: PollPath;
  /** Default 300. */
  lifetime_seconds?: number;
  /** Header that carries the token. Default `Authorization`. */
  header?: string;
  /** Prefix of the token in the header. Default `Bearer `. */
  prefix?: string;
  /** Further credentials of each request, such as an API key. */
  also?: PollCredentialFields;
  host?: PollTokenHost;
}

/** A request to a token endpoint. */
export interface PollTokenRequest extends PollTokenUse {
  token_url: PollAddress;
  client_id: PollCredential;
  client_secret?: PollCredential;
  /** Where the client credentials are sent. Default `basic`: the `Authorization` header. */
  client?: 'basic' | 'body';
  /** Encoding of the token request. Default `form`. */
  body?: 'form' | 'json';
  /** Joined with a space. */
  scopes?: readonly PollTemplate[];
  audience?: PollTemplate;
  /** Further parameters. One whose setting is empty is omitted. */
  parameters?: Readonly<Record<string, PollCredential>>;
  headers?: Readonly<Record<string, PollCredential>>;
}

/** OAuth 2.0 client credentials (RFC 6749, section 4.4), or a vendor's similar grant. */
export interface PollClientCredentials extends PollTokenRequest {
  kind: 'client_credentials';
  client_secret: PollCredential;
  /** Default `client_credentials`. */
  grant_type?: string;
}

/**
 * OAuth 2.0 refresh token (RFC 6749, section 6). A new refresh token in the response replaces the
 * stored one.
 */
export interface PollRefreshToken extends PollTokenRequest {
  kind: 'refresh_token';
  refresh_token: PollField;
  /** Path of the new refresh token in the response. Default `/refresh_token`. */
  replacement?: PollPath;
  /**
   * The vendor accepts each refresh token once. A connection test then leaves alone what is not stored
   * yet.
   */
  rotates?: true;
}

type JwtAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'ES256' | 'ES384' | 'PS256' | 'HS256' | 'HS384' | 'HS512';

/** A JSON Web Token that the connector signs. */
export interface PollJwt {
  /** Secret that contains the key. */
  key: PollField;
  /**
   * `pem`: PKCS #8 or PKCS #1; `service_account`: the JSON file of a Google service account; `text`,
   * `base64`: the shared secret of an `HS` algorithm.
   */
  key_format: 'pem' | 'service_account' | 'text' | 'base64';
  /** Default `RS256`. */
  algorithm?: JwtAlgorithm;
  /** The `kid` header. Default for a service account: the id in its file. */
  key_id?: PollCredential;
  /** Default for a service account: its email address. */
  issuer?: PollCredential;
  subject?: PollCredential;
  audience?: PollTemplate;
  /** Seconds until the token expires. Default 300. */
  jwt_lifetime_seconds?: number;
  /** Further claims. Texts are templates in which settings are allowed, and `{{nonce}}`: a new UUID. */
  claims?: Readonly<Record<string, PollTemplate | number | boolean>>;
}

/**
 * Exchanges a JWT for a token: RFC 7523, section 2.1 (`jwt_bearer`) or section 2.2
 * (`client_assertion`), or a request of the vendor's own (`custom`).
 */
export interface PollPrivateKeyJwt extends PollJwt, PollTokenUse {
  kind: 'private_key_jwt';
  grant: 'jwt_bearer' | 'client_assertion' | 'custom';
  token_url: PollAddress;
  /** Default for `client_assertion`: `issuer`. */
  subject?: PollCredential;
  /** Default: the token URL. */
  audience?: PollTemplate;
  scopes?: readonly string[];
  /** Further parameters of the token request. */
  parameters?: Readonly<Record<string, PollTemplate>>;
  /** Parameter with the JWT, for `custom`. Default `assertion`. */
  parameter?: string;
  /** Encoding of the token request. Default `form`. */
  body?: 'form' | 'json';
}

/** Sends a JWT that the connector signs as the token itself. */
export interface PollSelfSignedJwt extends PollJwt {
  kind: 'jwt';
  /** Default `Authorization`. */
  header?: string;
  /** Default `Bearer `. */
  prefix?: string;
  also?: PollCredentialFields;
}

/**
 * Installation of a GitHub App.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
 */
export interface PollGithubApp {
  kind: 'github_app';
  app_id: PollField;
  /** Secret with the private key of the app: PEM. */
  key: PollField;
  installation_id: PollField;
  /** Origin of the API. Default `https://api.github.com`. */
  api_url?: PollTemplate;
}

/** A request that returns credentials. At most one of `json` and `form`. */
export interface PollLoginRequest {
  /** Default: `POST`, or `GET` without a body. */
  method?: 'GET' | 'POST' | 'PUT';
  /** A path that is appended to `base_url`, or a whole URL. With `field`, one of several URLs. */
  url: PollAddress;
  headers?: Readonly<Record<string, PollCredential>>;
  query?: Readonly<Record<string, PollCredential>>;
  /** HTTP basic authentication. */
  basic?: { user: PollCredential; password?: PollCredential };
  /** Every text in it is a credential. */
  json?: unknown;
  form?: Readonly<Record<string, PollCredential>>;
  /** Format of the response. Default `json`. */
  format?: 'json' | 'xml';
  /**
   * What is taken from the response, by the name of its placeholder. `optional` values may be missing
   * and are then empty.
   */
  values?: Readonly<Record<string, PollLoginValue>>;
}

export type PollLoginValue =
  /** A text or number at a path of the body. The empty path is the body as text. */
  { path: PollPath; optional?: true } | { header: string; optional?: true } | { cookie: string; optional?: true };

/**
 * Exchanges credentials for a token by calls of the vendor's own. After three refused logins in a row,
 * no more are sent until the configuration changes or a person asks: vendors lock accounts.
 */
export interface PollLogin {
  kind: 'login';
  /** Values to compute before the requests, from secrets, settings, `timestamp` and `nonce`. */
  steps?: readonly PollSignatureStep[];
  /** One or several requests. Later ones may use the values of earlier ones, and send their cookies. */
  requests: readonly PollLoginRequest[];
  /** Used instead of `requests` when the token expires. It may use all values. */
  refresh?: PollLoginRequest;
  /**
   * How long the values are used. `path`: in seconds, or until an absolute time (`until`). Default: 300
   * seconds.
   */
  lifetime?:
    | { seconds: number }
    | { path: PollPath; unit?: 'seconds' | 'minutes' | 'milliseconds' }
    | { path: PollPath; until: 'rfc3339' | 'seconds' | 'milliseconds' };
  /** How requests carry the values. */
  send: PollCredentialFields & {
    /** `all`: every cookie that the responses to the logins set. */
    cookies?: 'all' | Readonly<Record<string, PollCredential>>;
    /** Without its secret, a header or parameter is omitted. */
    optional?: true;
  };
  /** In the response to the last request. */
  host?: PollTokenHost;
  /** Statuses of requests, besides 401, that mean an expired session. */
  expired?: readonly number[];
}

/** Duo request signing: every request is signed. https://duo.com/docs/adminapi#authentication */
export interface PollDuoSignature {
  kind: 'duo_hmac';
  key: PollField;
  secret: PollField;
}

type Hash = 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512';

/**
 * A value that is computed from a text, and the name of its placeholder. Computed in order; later ones
 * may use earlier ones.
 */
export type PollSignatureStep = {
  name: string;
  /** Text in which secrets and the placeholders of a signature are allowed. */
  of: string;
  /** Encoding of the bytes in that text. Default: it is text. */
  of_encoding?: 'hex' | 'base64';
} & (
  | { kind: 'text' }
  | {
      kind: 'hash';
      algorithm: Hash;
      encoding: 'hex' | 'base64';
      /** Bytes of the text that are hashed, at most. */
      first_bytes?: number;
      /** An empty text is not hashed but stays empty. */
      empty?: true;
    }
  | {
      kind: 'hmac';
      algorithm: Hash;
      key: PollCredential;
      /** Encoding of the key. Default `text`. */
      key_encoding?: 'text' | 'base64' | 'hex';
      encoding: 'hex' | 'base64';
    }
  /** RSA, PKCS #1 v1.5, with a private key as PEM. */
  | { kind: 'rsa'; algorithm: 'sha1' | 'sha256' | 'sha512'; key: PollField; encoding: 'base64' }
  /**
   * The API key, obfuscated with a time in milliseconds (`of`).
   * https://help.zscaler.com/zia/getting-started-zia-api
   */
  | { kind: 'zscaler_key'; key: PollField }
);

/**
 * Signs each request.
 *
 * Placeholders: `method`, `scheme`, `host`, `path`, `query` (as sent), `sorted_query` (by name, then
 * value), `target` (path and query), `body`, `length`, `header.<name>`, `timestamp`, `nonce` (64
 * hexadecimal digits, or 32 as `short`), and the names of steps. Forms of `timestamp`: those of
 * `PollTimeForm`, and `http` (RFC 9110). Forms of the others: `lower`, `upper`, `encoded`
 * (percent-encoded as in RFC 3986).
 */
export interface PollSignature {
  kind: 'signature';
  /** Added before anything is computed, so that steps can contain them. */
  signed?: PollCredentialFields;
  steps: readonly PollSignatureStep[];
  headers?: Readonly<Record<string, PollCredential>>;
  query?: Readonly<Record<string, PollCredential>>;
}

/** OAuth 1.0 (RFC 5849) with a token that the customer has created. */
export interface PollOAuth1 {
  kind: 'oauth1';
  consumer_key: PollCredential;
  consumer_secret: PollCredential;
  token: PollCredential;
  token_secret: PollCredential;
  /** Default `HMAC-SHA256`. */
  algorithm?: 'HMAC-SHA1' | 'HMAC-SHA256';
  realm?: PollField;
}

/**
 * AWS Signature Version 4, with an access key, or with keys of a role. Without an access key, the
 * service assumes the role with its own identity at AWS.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
 */
export interface PollAwsSignature {
  kind: 'aws_sigv4';
  access_key_id?: PollField;
  secret_access_key?: PollField;
  session_token?: PollField;
  region: PollTemplate;
  /** Signs for the region in the host name of each request, such as `acm.eu-west-1.amazonaws.com`. */
  region_of_host?: true;
  /** Each request has its own `role`, which the service assumes with its own identity at AWS. */
  role_of_request?: true;
  /** Role to assume (STS `AssumeRole`), if the setting is not empty. */
  role_arn?: PollField;
  /**
   * What the trust policy of the role requires as `sts:ExternalId`, for roles that are assumed with an
   * access key. The service's own identity uses the external ID of the organization.
   */
  external_id?: PollField;
  /** Name of the service in the scope of the signature: `execute-api`. */
  service: string;
}

export type PollSingleAuthentication =
  /** The vendor needs no credentials. */
  | { kind: 'none' }
  | PollKeyAuthentication
  | PollDigest
  | PollClientCredentials
  | PollRefreshToken
  | PollPrivateKeyJwt
  | PollSelfSignedJwt
  | PollGithubApp
  | PollLogin
  | PollDuoSignature
  | PollSignature
  | PollOAuth1
  | PollAwsSignature;

export type PollAuthentication =
  | PollSingleAuthentication
  /** One of several, selected by a setting. */
  | { kind: 'choice'; field: PollField; of: Readonly<Record<string, PollSingleAuthentication>> }
  /** The first whose secrets are all filled. One that needs none, such as `none`, is the last. */
  | { kind: 'first'; of: readonly PollSingleAuthentication[] };
