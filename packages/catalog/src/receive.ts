/**
 * Declarative definition of an input that its vendor sends HTTP requests to: data only, no code. The
 * counterpart of `poll`.
 *
 * Each connector has its own address under the service. A template is a string with
 * `{{...}}` placeholders:
 *
 * - `{{header.X-Request-Id}}`: a header of the request
 * - `{{body}}`: the body as received; in `hmac.signed` only
 * - `{{timestamp}}`: the text of the header that `timestamp` names; in `hmac.signed` only
 * - `{{now:milliseconds}}`: when the response is made, also `seconds` and `rfc3339`
 * - `{{message}}`: why a request is rejected; in `rejected` only
 * - `{{/settings/...}}`: a setting
 */
import type { PollField, PollPath, PollTemplate } from './poll-request.js';

/** Any JSON, with templates as strings. A string that is one `{{now:...}}` becomes a number. */
export type ReceiveTemplate =
  | string
  | number
  | boolean
  | null
  | readonly ReceiveTemplate[]
  | { readonly [key: string]: ReceiveTemplate };

/** Refuses requests that are too old, or were seen before. */
export interface ReceiveTimestamp {
  /** Header with the time at which the sender signed, in seconds since the epoch. */
  header: string;
  /** Largest difference to our clock, in seconds. */
  tolerance_seconds: number;
}

export type ReceiveAuthentication =
  /**
   * The connector's own token, which the API shows: as a bearer token, as the whole `Authorization`
   * header, or as the password of basic authentication.
   */
  | { kind: 'token'; /** Default: `Authorization`. */ header?: string }
  /** A header with a secret that both sides know. */
  | { kind: 'header'; header: string; secret: PollField; prefix?: string }
  /** Basic authentication with a user and a password that both sides know. */
  | { kind: 'basic'; user: PollField; password: PollField }
  /** An HMAC of the body in a header. */
  | {
      kind: 'hmac';
      header: string;
      /** Before the signature in the header, such as `sha256=`. */
      prefix?: string;
      secret: PollField;
      algorithm: 'sha256' | 'sha512' | 'sha1';
      encoding: 'hex' | 'base64';
      /** What is signed. Default: `{{body}}`. */
      signed?: PollTemplate;
      timestamp?: ReceiveTimestamp;
    }
  /**
   * A JWT in a header that the vendor has signed with a key that it serves by its id, and that
   * names the hash of the body.
   */
  | {
      kind: 'jwt';
      header: string;
      algorithm: 'ES256' | 'RS256';
      key: {
        url: string;
        /** Body of the request. `{{kid}}` is the id of the key; fields are written as pointers. */
        json: Readonly<Record<string, string>>;
        /** Where the key (a JWK) is in the response. */
        path: PollPath;
        /** Where the response says since when the key is no longer valid, in seconds. */
        expired: PollPath;
      };
      /** Claim with the SHA-256 of the body in hexadecimal digits. */
      body_claim: string;
      /** Largest age by the claim `iat`, in seconds. */
      max_age_seconds: number;
      /** Switch that turns the check off. */
      only_if?: PollField;
    };

export interface ReceiveRecords {
  /**
   * - `json`: a document, or several after each other
   * - `syslog`: messages with an octet count (RFC 6587), such as those of Heroku's log drains
   */
  format: 'json' | 'syslog';
  /** Where the record or the list of records is in the body. Default `""`. */
  path?: PollPath;
  /**
   * Each entry of the list holds bytes in Base64 at this path, perhaps compressed: JSON documents
   * become separate records, any other text the `message` of one.
   */
  data?: { path: PollPath; /** Setting with `auto`, `gzip` or `none`. */ compression?: PollField };
  /** Fields that are added to each record. Without a value, a field is omitted. */
  fields?: Readonly<Record<string, PollTemplate>>;
  /** Query parameters that are added to each record: a list setting with their names. */
  query_fields?: PollField;
  /** Attributes that are added to each record: a list setting with their names. */
  attributes?: { header: string; path: PollPath; names: PollField };
  /** Only records whose value at `path` is in a list setting; all, if the list is empty. */
  only?: { path: PollPath; in: PollField };
}

export interface ReceiveDefinition {
  /** What the definition was checked against. */
  verified: 'documented' | 'independent' | 'live';
  /** Pages of the vendor that it was read from. */
  documentation: readonly string[];
  /**
   * How a sender is recognized. Of a list, the first method whose fields have values; `token` needs no
   * field and can be the last one.
   */
  authentication: ReceiveAuthentication | readonly ReceiveAuthentication[];
  /**
   * The request by which the vendor verifies the address. It is answered without authentication: a
   * header of the request is returned in a JSON body.
   */
  challenge?: { method: 'GET'; header: string; json: ReceiveTemplate };
  records: ReceiveRecords;
  /** Header with the id of a delivery. A repeated delivery is dropped. */
  id?: string;
  /** Largest body after decompression, in bytes. */
  max_bytes: number;
  /** Response once the records are stored. Default: 200 without a body. */
  response?: { status?: number; json?: ReceiveTemplate };
  /** Body of the response to a rejected request. Default: an error of the API. */
  rejected?: { json: ReceiveTemplate };
  /** Values of settings that can't be honored, each with a sentence for the user. */
  unsupported?: readonly { field: PollField; in: readonly (string | boolean)[]; message: string }[];
}
