/**
 * Declarative definition of an output that delivers to its vendor's HTTP API: data only, no code.
 * The counterpart of `poll`.
 *
 * A template is a string with `{{...}}` placeholders:
 *
 * - `{{/settings/index}}`: a setting; `{{joined:/settings/tags}}`: a list, joined with commas, and the
 *   columns of its rows with `=`
 * - `{{record}}`: the record; `{{record:text}}`: its JSON as a string; `{{record/user/name}}`: a
 *   value in it, by JSON Pointer; `{{record@/settings/time_field}}`: the value at the path that a
 *   setting holds, such as `event.created`; `{{severity@/settings/severity_key}}`: the same as the
 *   name of a severity (`DEBUG` to `EMERGENCY`), from such a name or a number of Google Cloud
 * - `{{rendered:/settings/message}}`: the text of a setting (or each text of a map) with its own
 *   placeholders such as `{{ user.name }}`, which refer to the record
 * - `{{record:base64}}`: the record's JSON in Base64 (`base64_line`: with a line feed at its end); `{{picked:/settings/fields}}`: the values at the
 *   paths in a list setting, as an object
 * - `{{pairs:/settings/labels}}`: a map as a list of `{ key, value }`; `{{others:/settings/map/key}}`:
 *   the entries of a map without that key
 * - `{{record/title~130}}`: any of these as a text of at most 130 characters
 * - `{{id}}`: ID of the record, `{{batch}}`: ID of the records in a request. Both are the same in
 *   every retry.
 * - `{{now}}`: when the record arrived (`{{now:seconds}}` in another format)
 * - `{{group}}`: what the records of a request have in common, see `group`
 * - `{{records}}`: the list of records, in `body.template`
 *
 * In JSON, a string that is a single placeholder becomes the value itself: an object, a number, a
 * list. A property, list item, header or parameter whose value does not exist is omitted. An object
 * with the only key `{{first}}` and a list becomes the first item that exists. With the key `{{...}}`
 * and the value `{{record}}`, an object is the record with the properties that it lacks. In headers
 * and queries, the name `{{...}}` stands for all entries of a map setting.
 */
import type { PollAuthentication } from './poll-authentication.js';
import type { PollField, PollPath, PollTemplate } from './poll-request.js';
import type { PollDefinition } from './poll.js';

/** Any JSON, with templates as strings. */
export type DeliveryTemplate =
  | string
  | number
  | boolean
  | null
  | readonly DeliveryTemplate[]
  | { readonly [key: string]: DeliveryTemplate };

/** Format of `{{now}}`. Default `rfc3339`. */
export type DeliveryTimeForm = 'rfc3339' | 'rfc3339_seconds' | 'seconds' | 'milliseconds' | 'nanoseconds';

/** Base URL without a trailing slash. */
export type DeliveryAddress =
  /**
   * `https://...`, in which a value is part of the host name; or a template that begins with a
   * placeholder, whose value is a host or a URL. On its own, `{{/settings/url}}` and
   * `{{/secrets/webhook_url}}` keep their path and query.
   */
  | PollTemplate
  /** Selected by a setting, such as a region. */
  | { field: PollField; of: Readonly<Record<string, PollTemplate>> };

/** Fields that decide about TLS. */
export interface DeliveryTls {
  /** Group with `ca_file`, `verify_certificate` and the other fields of `common#/tls`. */
  group?: PollField;
  /** Switch that accepts any certificate. */
  skip_verify?: PollField;
  /** PEM of a certificate authority to trust. */
  ca?: PollField;
}

export type DeliveryBody =
  /** One JSON document. Its template contains `{{records}}`, or with one record per request `{{record}}`. */
  | { kind: 'json'; template: DeliveryTemplate; record?: DeliveryTemplate }
  /**
   * One JSON document per line: NDJSON. `action` is a line before each record, as in bulk APIs.
   * Default content type: `application/x-ndjson`.
   */
  | { kind: 'lines'; record?: DeliveryTemplate; action?: DeliveryTemplate }
  /** `application/x-www-form-urlencoded`, with one record per request. */
  | { kind: 'form'; fields: Readonly<Record<string, PollTemplate>> };

export interface DeliveryLimits {
  /** Records per request. */
  records: number;
  /** Setting with a smaller number of records per request. */
  records_from?: PollField;
  /** Bytes per request, before compression. */
  bytes: number;
  /** Bytes of one record in the request. A larger one is rejected without sending it. */
  record_bytes?: number;
  /** Requests at the same time. Default: up to 32, adapted to how the vendor responds. */
  concurrency?: number;
  /** Shortest time between two requests, in milliseconds. */
  interval_ms?: number;
}

/**
 * Matches a response by its status, and by the value at `path` of its body (JSON, or XML as in
 * `poll`) or in its header `header`: one of `in`, or any value.
 */
export interface DeliveryMatch {
  status?: number | readonly number[];
  path?: PollPath;
  header?: string;
  in?: readonly (string | number | boolean)[];
  /** Any value but these. */
  not?: readonly (string | number | boolean)[];
  /** A part of the value. With the path `''`, of a body that is neither JSON nor XML. */
  contains?: string;
}

/**
 * - `accepted`: the records are written
 * - `refused`: at least one record is at fault; the engine finds out which
 * - `throttled`, `retry`: sent again later
 * - the others: a person has to change something
 */
export type DeliveryMeaning =
  | 'accepted'
  | 'refused'
  | 'throttled'
  | 'retry'
  | 'invalid_credentials'
  | 'forbidden'
  | 'not_found'
  | 'rejected';

export interface DeliveryRule extends DeliveryMatch {
  means: DeliveryMeaning;
  /** Sentence for the user, instead of the general one. */
  message?: string;
}

/** The vendor reports errors of single records in an accepted response. */
export interface DeliveryPartial {
  /** Statuses of such a response. Default: any 2xx. */
  status?: readonly number[];
  /** List with the results or errors. Absent in the response: there are none. */
  path: PollPath;
  /** The body is one JSON document per line. `path` is then empty. */
  format?: 'lines';
  /**
   * Path of the record's index in an item. Without it, items are in the order of the records, one
   * for each.
   */
  index?: PollPath;
  /** Index of the first record. Default 0. */
  first?: 0 | 1;
  /** What marks an item as an error. Without it, every item is one. */
  failed?: {
    path: PollPath;
    in?: readonly (string | number | boolean)[];
    not?: readonly (string | number | boolean)[];
  };
  /** Errors that a retry may solve. The other ones are permanent: dead letters. */
  retry?: { path: PollPath; in: readonly (string | number | boolean)[] };
}

export interface DeliveryResponses {
  /** What a 2xx contains if the vendor sent it. Otherwise, it is an unexpected response. */
  accepted?: DeliveryMatch;
  /**
   * The first rule that matches decides. Without one: 2xx is accepted; 400, 413 and 422 are refused;
   * 429, and 503 with `Retry-After`, are throttled; 401, 403 and 404 are permanent; 408, 409, 425 and
   * 5xx are retried.
   */
  rules?: readonly DeliveryRule[];
  partial?: DeliveryPartial;
}

export interface DeliveryRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'HEAD';
  /** Appended to `base_url`. Each interpolated value is one path segment. */
  path: PollTemplate;
  query?: Readonly<Record<string, PollTemplate>>;
  headers?: Readonly<Record<string, PollTemplate>>;
}

export type DeliveryCheck =
  /** Sends a request that writes nothing. */
  | (DeliveryRequest & {
      kind: 'request';
      /** Default: that of the delivery. */
      base_url?: DeliveryAddress;
      body?: DeliveryTemplate;
      /** Sent as it is, instead of `body`: `''`, or a line that the vendor ignores. */
      text?: string;
      /** Default: any 2xx. */
      accepted?: DeliveryMatch;
      /** What this proves: `Axiom accepted the token`. */
      summary: string;
    })
  /** The vendor has no request that writes nothing: only checks that the server responds. */
  | { kind: 'reach' };

/** Creates what the records need at the vendor, such as a stream. */
export interface DeliveryPreparation extends DeliveryRequest {
  /** JSON. Either this or `text`. */
  body?: DeliveryTemplate;
  /** A template that is sent as text, such as an SQL statement. */
  text?: PollTemplate;
  /** Responses that are fine besides 2xx: it exists already. */
  accepted?: DeliveryMatch;
  /** Only if this switch is on. */
  only_if?: PollField;
}

export interface DeliveryDefinition extends DeliveryRequest {
  verified: PollDefinition['verified'];
  /** Vendor pages that the definition was built from. */
  documentation: readonly string[];
  /** With several, the first one whose settings all have a value. */
  base_url: DeliveryAddress | readonly DeliveryAddress[];
  /** Absent: none, or a secret address. */
  authentication?: PollAuthentication;
  /** Signs in only if this field has a value. */
  authenticate_if?: PollField;
  tls?: DeliveryTls;
  /** A request holds only records for which this template has the same value. */
  group?: PollTemplate;
  /** Requests that are sent once before the first records (of each group), in this order. */
  prepare?: readonly DeliveryPreparation[];
  body: DeliveryBody;
  limits: DeliveryLimits;
  /** gzip: always, or unless the setting says `none`. */
  compression?: 'gzip' | { field: PollField };
  /** Writes one request at a time, in the order of the input. */
  ordered?: true;
  responses?: DeliveryResponses;
  check: DeliveryCheck;
  /** What is different for the values of a choice. */
  variants?: {
    field: PollField;
    of: Readonly<Record<string, Partial<Omit<DeliveryDefinition, 'verified' | 'documentation' | 'variants'>>>>;
  };
}
