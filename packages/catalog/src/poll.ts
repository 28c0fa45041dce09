/**
 * Declarative definition of an input that polls its vendor's HTTP API: data only, no code. Its
 * requests are in `poll-request.ts`, `authentication` in `poll-authentication.ts`, pages and cursors in
 * `poll-pages.ts`, streams of several requests in `poll-steps.ts`.
 *
 * A template is a string with `{{...}}` placeholders: `{{/settings/account_id}}` is a setting,
 * `{{since}}` and `{{until}}` are the bounds of the requested time window (`{{since:seconds}}` in
 * another format), `{{after}}` is the ID of the last record, `{{page_size}}` is the page size of the
 * stream, a name of `values` is a value that `poll-values.ts` describes, and `poll-steps.ts` documents `{{each}}`, `{{parent}}`, `{{/record/...}}`, `{{ids}}`,
 * `{{job}}` and `{{part}}`. A query parameter, or
 * a part of one, is omitted if its template refers to a value that does not exist. Secrets are
 * allowed in `authentication` only.
 */

import type { PollAuthentication } from './poll-authentication.js';
import type {
  PollAddress,
  PollCondition,
  PollField,
  PollOmit,
  PollOnly,
  PollPath,
  PollRequest,
  PollTemplate,
  PollTimeForm,
} from './poll-request.js';
import type { PollCursor, PollPagination } from './poll-pages.js';
import type { PollAcknowledge, PollDetail, PollEach, PollJob } from './poll-steps.js';
import type { PollRate, PollResponseRule } from './poll-responses.js';
import type { PollNumber, PollValue } from './poll-values.js';

/** Where the records are in a response. */
export interface PollRecordList {
  /**
   * Path of the record list in the response, or several. `*` stands for each item of a list, or
   * each value of an object. `{{/settings/...}}`: a setting contains it, with dots between keys. If that is
   * empty, it is the whole response.
   */
  path: PollPath | readonly PollPath[];
  /**
   * What is at `path`: a list (default), an object whose values are the records (`map`), a single
   * record (`object`), a list or a single record (`any`), or a list of lists (`rows`), whose names are in `columns`.
   */
  shape?: 'list' | 'map' | 'object' | 'any' | 'rows';
  /** Field that gets the key of the record in a `map`, or what the last `*` of `path` stands for. */
  key?: string;
  /** Names of the columns of `rows`, or the path of these names in the response. */
  columns?: PollPath | readonly string[];
  /**
   * Fields to add to each record: paths in the response, in which `*` stands for the same as in
   * `path`, or texts that don't begin with `/`, such as `login` or `{{each}}`, which delivered records
   * have.
   */
  add?: Readonly<Record<string, PollTemplate>>;
  /** Properties whose texts are JSON objects: they are parsed. A text that is none stays as it is. */
  json?: readonly PollPath[];
  /** The vendor omits the list when it is empty. */
  optional?: true;
}

export interface PollRecords extends PollRecordList {
  /** One or several paths that identify a record. Default: the whole record. */
  id?: PollPath | readonly PollPath[];
  /** Of several paths, the first that has a value. */
  time?: PollPath | readonly PollPath[];
  /** Default `rfc3339`. */
  time_form?: PollTimeForm;
  /** Keeps only records that pass this filter, or all of several, where the vendor can't filter. */
  only?: PollOnly | readonly PollOnly[];
  /**
   * Removes properties before records are delivered. Paths of `id`, `time` and `only` still find them.
   */
  omit?: PollOmit | readonly PollOmit[];
}

export interface PollStream extends PollRequest {
  /** Part of the stored cursor: renaming a stream starts it over. */
  name: string;
  page_size: PollNumber;
  /** The stream is read only if these hold. */
  when?: PollCondition | readonly PollCondition[];
  /**
   * Sent before the stream is read for the first time since the start, such as the start of a
   * subscription. Its response may be a rejection that `responses` accepts.
   */
  prepare?: PollRequest;
  /** Reads the stream once for each entry of a list, as `{{each}}`. */
  each?: PollEach;
  /** Reads the result of an export instead of records that are there at any time. */
  job?: PollJob;
  records: PollRecords;
  /**
   * Request of all pages but the first, if it differs: another path, or a body with nothing but the
   * page token. Address, headers, format and responses are those of the stream unless stated.
   */
  next?: PollRequest;
  /** Completes each new record by another request. */
  detail?: PollDetail;
  /** Tells the vendor about each record once it is stored. */
  acknowledge?: PollAcknowledge;
  pagination: PollPagination;
  cursor: PollCursor;
}

export interface PollDefinition {
  /**
   * What the definition was tested against: `documented`, requests and responses of the vendor's
   * documentation; `independent`, a mock server or client library that others wrote; `live`, the
   * vendor itself.
   */
  verified: 'documented' | 'independent' | 'live';
  /** Vendor pages that the definition was built from. */
  documentation: readonly string[];
  base_url: PollAddress;
  authentication: PollAuthentication;
  headers?: Readonly<Record<string, PollTemplate>>;
  /** Values that are computed from settings, by the name of their placeholder. */
  values?: Readonly<Record<string, PollValue>>;
  /**
   * Zone of times without one, in requests and records: an IANA name, or a setting with such a
   * name. Default `UTC`.
   */
  time_zone?: string;
  /** Seconds between polls. Default 60. */
  interval_seconds?: PollNumber;
  /** Setting with a cron schedule in UTC, used instead of `interval_seconds`. */
  schedule?: PollField;
  rate?: PollRate;
  /** Optional settings and secrets that are not supported: a filled one is an error, not ignored. */
  unsupported?: readonly PollField[];
  /** What responses mean, in addition to the rules of a request. */
  responses?: readonly PollResponseRule[];
  streams: readonly PollStream[];
  /**
   * Request of the connection test. The response must contain records, or an empty list. `since` and `until` are the
   * last hour.
   */
  check: PollRequest & { records: PollRecordList };
}
