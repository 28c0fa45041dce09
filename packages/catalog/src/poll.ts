/**
 * How a type is read by asking its vendor's HTTP API again and again: data alone, no code.
 *
 * A template is a text with `{{...}}` in it: `{{/settings/account_id}}` is a setting, `{{since}}` and `{{until}}` are the
 * borders of the stretch of time asked for (`{{since:seconds}}` in another form), `{{after}}` is the last record's id,
 * `{{each}}` an id of the list the stream is read for, `{{page_size}}` the stream's own. A query parameter, or a part of
 * one, whose template names something that is not there is left out. Secrets stand in `authentication` alone.
 */

/** Text with `{{...}}` in it. */
export type PollTemplate = string;
/** JSON Pointer into a record or an answer; empty: all of it. */
export type PollPath = string;
/** JSON Pointer of a setting (`/settings/...`) or a secret (`/secrets/...`). */
export type PollField = string;

/** How a moment is written: `2026-01-01T00:00:00.000Z`, the same without milliseconds, since 1970, or the day in UTC. */
export type PollTimeForm = 'rfc3339' | 'rfc3339_seconds' | 'seconds' | 'milliseconds' | 'date';

/** A bearer token, key or password as it is. */
export type PollKeyAuthentication =
  | { kind: 'bearer'; secret: PollField }
  | { kind: 'header'; name: string; secret: PollField; prefix?: string }
  | { kind: 'query'; name: string; secret: PollField }
  | { kind: 'basic'; user: PollField; password?: PollField };

/** OAuth 2.0 client credentials (RFC 6749, 4.4), or a vendor's grant that is like it. */
export interface PollClientCredentials {
  kind: 'client_credentials';
  token_url: PollTemplate;
  client_id: PollField;
  client_secret: PollField;
  /** Where the client names itself. Default `basic`: the `Authorization` header. */
  client?: 'basic' | 'body';
  /** Default `form`. */
  body?: 'form' | 'json';
  /** Default `client_credentials`. */
  grant_type?: string;
  parameters?: Readonly<Record<string, PollTemplate>>;
  /** Before the token in `Authorization`. Default `Bearer `. */
  prefix?: string;
}

/** A token for a statement signed with a private key: RFC 7523, 2.1 (`jwt_bearer`) and 2.2 (`client_assertion`). */
export interface PollPrivateKeyJwt {
  kind: 'private_key_jwt';
  grant: 'jwt_bearer' | 'client_assertion';
  token_url: PollTemplate;
  /** Secret with the key: PKCS 8 as PEM, or the JSON file of a Google service account. */
  key: PollField;
  key_format: 'pem' | 'service_account';
  /** Default `RS256`. */
  algorithm?: 'RS256' | 'RS384' | 'RS512' | 'ES256' | 'ES384' | 'PS256';
  /** Default for a service account: its own address. */
  issuer?: PollField;
  /** On whose behalf. Default: as `issuer`, and nobody for a service account. */
  subject?: PollField;
  /** Default: the token's address. */
  audience?: PollTemplate;
  scopes?: readonly string[];
}

/** Duo's own: every request is signed. https://duo.com/docs/adminapi#authentication */
export interface PollDuoSignature {
  kind: 'duo_hmac';
  key: PollField;
  secret: PollField;
}

export type PollSingleAuthentication =
  PollKeyAuthentication | PollClientCredentials | PollPrivateKeyJwt | PollDuoSignature;

export type PollAuthentication =
  | PollSingleAuthentication
  /** One of several, by a setting with a choice. */
  | { kind: 'choice'; field: PollField; of: Readonly<Record<string, PollSingleAuthentication>> };

export interface PollRequest {
  /** After the base address; each value that goes in is one segment. */
  path: PollTemplate;
  /** Several parts are joined by a space. */
  query?: Readonly<Record<string, PollTemplate | readonly PollTemplate[]>>;
}

export interface PollRecords {
  /** Of the list in the answer. */
  path: PollPath;
  /** The vendor leaves the list out when it is empty. */
  optional?: true;
  /** What tells a record apart, one part or several. Absent: all of it does. */
  id?: PollPath | readonly PollPath[];
  time?: PollPath;
  /** Default `rfc3339`. */
  time_form?: 'rfc3339' | 'seconds' | 'milliseconds';
  /** Only records whose text at `path` is in the list at `field`; an empty list takes all. */
  only?: { path: PollPath; field: PollField };
}

export type PollPagination =
  | { kind: 'none' }
  /** `Link: <...>; rel="next"` (RFC 8288). */
  | { kind: 'link_header' }
  /** A text in the answer, or several joined by a comma, that goes into a parameter. */
  | { kind: 'body_cursor'; path: PollPath; parameter: string }
  /** An address in the answer; with `parameter`, only that parameter of it is taken. */
  | { kind: 'body_url'; path: PollPath; parameter?: string }
  /** Number of the first record, from 0; ends with a page that is not full. */
  | { kind: 'offset'; parameter: string }
  /** Number of the page; ends with a page that is not full. */
  | { kind: 'page'; parameter: string; first: number };

export type PollCursor =
  /** Stretches of time that overlap; what was seen in the overlap is not delivered again. */
  | {
      kind: 'time';
      /** Setting with the moment to begin at. Absent or empty: now. */
      start?: PollField;
      /** How far back each stretch reaches: what turns up so late is still found. */
      overlap_seconds: number;
      /** Longest stretch the vendor answers for. */
      longest_seconds?: number;
      /** The vendor takes whole days; what is older than asked for is left out here. */
      whole_days?: true;
      /** Ids of records kept for the overlap. Default 5,000. */
      seen?: number;
      /** `again`: places between pages don't last; after a stop the stretch is read from its beginning. */
      resume?: 'again';
    }
  /** The next link is there even when there is nothing more, and is where to go on later. */
  | { kind: 'link'; start?: PollField; overlap_seconds: number; seen?: number }
  /** Records come by ascending id, and `{{after}}` asks for those behind one. */
  | { kind: 'id' }
  /** All of it each time. */
  | { kind: 'none' };

export interface PollStream extends PollRequest {
  /** Part of the place that is stored: changing it starts over. */
  name: string;
  page_size: number;
  /** Read the stream for each id of this list, as `{{each}}`. */
  each?: PollRequest & { records: { path: PollPath; id: PollPath }; page_size: number; pagination: PollPagination };
  records: PollRecords;
  pagination: PollPagination;
  cursor: PollCursor;
}

export interface PollRate {
  /** Header with the requests that are left. At 0 nothing is asked until `reset`. */
  remaining?: string;
  reset?: string;
  /** What `reset` holds: a moment in seconds since 1970, or seconds from now. */
  reset_form?: 'epoch' | 'seconds';
  /** When the vendor asks for less and names no time. Default 60. */
  wait_seconds?: number;
  /** Answers beside 429 that ask for less. */
  throttled?: readonly PollThrottled[];
  /** Setting with the customer's own limit: `{ rate, unit }`. */
  limit?: PollField;
}

/** An answer with this status, and with this header (holding `is`), or with one of these words at `path` of its body. */
export type PollThrottled =
  { status: number; header: string; is?: string } | { status: number; path: PollPath; in: readonly string[] };

export interface PollDefinition {
  /** `contract`: tested against a server that answers as the vendor documents. Nobody has run it against the vendor. */
  verified: 'contract';
  /** What it was built from. */
  documentation: readonly string[];
  /** `https://...`, without a slash at the end. A value in it is part of a host name, or all of it. */
  base_url: PollTemplate;
  authentication: PollAuthentication;
  headers?: Readonly<Record<string, string>>;
  /** Between readings. Default 60. */
  interval_seconds?: number;
  /** Setting with a cron schedule, in UTC, instead. */
  schedule?: PollField;
  rate?: PollRate;
  streams: readonly PollStream[];
  /** Asked by the connection test: an answer with a list. `since` and `until` are the last hour. */
  check: PollRequest & { records: { path: PollPath; optional?: true } };
}
