/** Requests of a `poll` definition. `poll.ts` describes the templates. */
import type { PollResponseRule } from './poll-responses.js';

/** String with `{{...}}` placeholders. */
export type PollTemplate = string;
/** JSON Pointer into a record or a response. The empty string selects all of it. */
export type PollPath = string;
/** JSON Pointer of a setting (`/settings/...`) or a secret (`/secrets/...`). */
export type PollField = string;

/**
 * Format of a timestamp:
 * - `rfc3339`: `2026-01-01T00:00:00.000Z`. In records, any RFC 3339 or RFC 9110 date; without a
 *   zone, in the definition's `time_zone`.
 * - `rfc3339_seconds`: `2026-01-01T00:00:00Z`; `rfc3339_offset`: `2026-01-01T00:00:00+00:00`
 * - `http`: `Thu, 01 Jan 2026 00:00:00 GMT` (RFC 9110). In records also RFC 822, as in RSS
 * - `date`: the date in UTC
 * - `seconds`, `milliseconds`, `microseconds`, `nanoseconds`, `ticks` (100 ns) since 1970, or since
 *   another day: `ticks@1601-01-01`
 * - `seconds_ago`, `minutes_ago`, `hours_ago`, `days_ago`, in requests only
 * - a pattern with the directives of `strftime`: `%Y-%m-%d %H:%M:%S`. Known are `%Y %y %m %b %d %H
 *   %I %p %M %S`, `%L` (milliseconds), `%f` (microseconds), `%N` (nanoseconds), `%z` (`+0000`),
 *   `%:z` (`+00:00`) and `%%`. Without a zone, in the definition's `time_zone`.
 */
export type PollTimeForm = string;

/**
 * JSON whose strings are templates. A string that is one placeholder and nothing else becomes its
 * value with the value's type: a number, a boolean, a list. `{{...|text}}` and `{{...|number}}` convert
 * it. A property whose template refers to a
 * value that does not exist is omitted, and so is an object that loses all its properties. An item
 * of a list is omitted as a whole if it refers to such a value. An object with the property `{{when}}`,
 * a template, is omitted if that has no value; the property itself is not sent.
 */
export type PollBody =
  | PollTemplate
  | number
  | boolean
  | null
  | readonly PollBody[]
  | { readonly [name: string]: PollBody };

/**
 * Base of URLs: `https://...` without a trailing slash, or `{{/settings/url}}`, whose path is kept.
 * Elsewhere, an interpolated value is part of the host name. With `field`, the value of a setting
 * selects among several: `*` is any other value, and `default` is the address if the setting is empty.
 * Without `of`, the setting is the address.
 */
export type PollAddress =
  | PollTemplate
  | { field: PollField; of?: Readonly<Record<string, PollTemplate>>; default?: PollTemplate };

/**
 * Values of a list, or of several templates, as one parameter: joined with `join`, or repeated
 * (`a=1&a=2`) without it. `item` is the template of one value, as `{{item}}`.
 */
export interface PollListParameter {
  /** A list setting, the name of a list in `values`, `ids`, or templates. */
  list: PollField | readonly PollTemplate[];
  join?: string;
  item?: PollTemplate;
}

/** The parts of a list are joined with a space. */
export type PollParameter = PollTemplate | number | boolean | readonly PollTemplate[] | PollListParameter;

/**
 * Whether a setting is filled: neither empty nor `false`. With `in`, whether it is one of these
 * values, or its list contains one. `empty`: holds if it is not filled, and with `in` then as well.
 */
export interface PollCondition {
  /** A setting, or the name of one of `values`. */
  field: PollField;
  in?: readonly (string | number)[];
  empty?: true;
}

/**
 * Compares the value at `path` of a record, or a list there, with settings or `values`. One that is
 * empty is not compared.
 */
export interface PollOnly {
  path: PollPath;
  /** Keeps records with this value, or with one of this list. */
  field?: PollField;
  /** Leaves out records with this value, or with one of this list. */
  not?: PollField;
  /** Keep records with this number or a greater, or a smaller one. */
  at_least?: PollField;
  at_most?: PollField;
  /** Keeps records whose text ends with one of these. */
  ends?: readonly string[];
  /**
   * Records without a value: `true` keeps them, a switch decides. Default: they are left out if `ends`, `field`,
   * `at_least` or `at_most` has a value.
   */
  missing?: true | PollField;
}

/**
 * Removes properties of records, by their names: a list, a list setting, or a list of `values`. An
 * empty list removes nothing.
 */
export interface PollOmit {
  /** Properties to remove. */
  properties?: PollField | readonly string[];
  /** Properties to keep: all others are removed. */
  except?: PollField | readonly string[];
  /** Removes them only if these hold. */
  when?: PollCondition | readonly PollCondition[];
}

export interface PollCsv {
  /** Default `,`. */
  delimiter?: string;
  /** Names of the columns. Default: the first row. */
  columns?: readonly string[];
  /** Beginning of the lines to skip before the first row, such as `#`. */
  comment?: string;
  /** Beginning of the comment that contains the names of the columns: `#Fields: `. */
  header?: string;
  /** Number of lines to skip before the first row. */
  skip?: number;
}

export interface PollRequest {
  /**
   * Format of the response. Default `json`. Lines of `ndjson`, rows of `csv` and lines of text are a
   * list; a line of text becomes `{ message }`. Of `xml`, an element becomes an object of its
   * attributes (`@name`) and children, and one with text only becomes the text. gzip and zip are
   * detected.
   */
  format?: 'json' | 'ndjson' | 'csv' | 'xml' | 'lines';
  csv?: PollCsv;
  /**
   * Of `ndjson`: the first or last line describes the page and is no record. It is at `/page`, and the
   * records are at `/records`.
   */
  page_line?: 'first' | 'last';
  /** Default `GET`, or `POST` with `body`, `form` or `graphql`. Some vendors take a body with `GET`. */
  method?: 'GET' | 'POST' | 'PUT';
  /** In place of the definition's `base_url`. */
  base_url?: PollAddress;
  /** ARN of the role at AWS that signs the request, with `role_of_request` of `authentication`. */
  role?: PollTemplate;
  /**
   * Appended to `base_url`. Each interpolated value is one path segment; of `{{each|path}}`, slashes
   * are kept. Empty: the address itself,
   * with the query of a URL setting.
   */
  path: PollTemplate;
  query?: Readonly<Record<string, PollParameter>>;
  /**
   * In addition to those of the definition. A header without a value is omitted. `{{uuid}}` is a new
   * identifier for each request.
   */
  headers?: Readonly<Record<string, PollTemplate>>;
  /** JSON body. */
  body?: { readonly [name: string]: PollBody } | readonly PollBody[];
  /** Body in the format of an HTML form. */
  form?: Readonly<Record<string, PollParameter>>;
  /**
   * Hosts, with their subdomains, of files that the response may redirect to, such as
   * `s3.amazonaws.com`. Files are read without credentials.
   */
  download_hosts?: readonly string[];
  /** What responses mean. The first rule that matches applies, before those of the definition. */
  responses?: readonly PollResponseRule[];
  /**
   * GraphQL query, sent as JSON. A response with `errors` is a failure, whatever its status. The
   * query is sent as it is written: values go into `variables`. `{{/settings/...}}` alone: a setting
   * contains it, and the page token of `/variables/after` goes into the variable that it passes as
   * `after`. `given`: a list setting of variables with `name` and `value`.
   */
  graphql?: { query: string; variables?: { readonly [name: string]: PollBody }; given?: PollField };
}
