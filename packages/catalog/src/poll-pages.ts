/** Pages and cursors of a `poll` definition. */

import type { PollField, PollPath, PollRequest } from './poll-request.js';
import type { PollDuration, PollNumber } from './poll-values.js';

/** How pages end, besides a response without a token or link. */
export interface PollEnd {
  /**
   * Path of a flag: `true` (also as text, or 1) if there are more pages. `false` ends them although
   * there is a token. Where pages are counted, nothing but `true` continues.
   */
  more?: PollPath;
  /** `empty_page`: a page may be shorter than requested, and only an empty one is the last. */
  ends?: 'empty_page';
}

/** Total numbers in the response, also as text. */
export interface PollTotals {
  /** Path of the number of records on all pages. */
  total?: PollPath;
  /** Path of the number of pages. */
  total_pages?: PollPath;
}

/**
 * `parameter` is the name of a query parameter, or a JSON Pointer into the body: `/page/cursor`,
 * `/variables/after` with `graphql`, `/cursor` for a field of a `form`.
 */
export type PollPagination =
  | { kind: 'none' }
  /** `Link: <...>; rel="next"` (RFC 8288). */
  | ({ kind: 'link_header' } & PollEnd)
  /** A response header with the token of the next page, sent as a parameter. */
  | ({ kind: 'header_cursor'; header: string; parameter: string } & PollEnd)
  /** A response header with the URL of the next page. */
  | ({ kind: 'header_url'; header: string; relative_to?: 'base_url' } & PollEnd)
  /**
   * A string in the response, or several joined with a comma, sent as a parameter. `json`: a list or
   * an object, sent as it is in a body. `path` and `more` may be `{{/settings/...}}`: a setting contains
   * them, with dots between keys. Without `path`, there is one page. `decode`: the response has the
   * token percent-encoded.
   */
  | ({ kind: 'body_cursor'; path: PollPath; parameter: string; json?: true; decode?: 'percent' } & PollEnd)
  /**
   * Values in the response, by the request headers that they are sent as. A page without the first of
   * them is the last one.
   */
  | ({ kind: 'body_headers'; headers: Readonly<Record<string, PollPath>> } & PollEnd)
  /**
   * A URL in the response. With `parameter`, only that query parameter is taken from it.
   * `relative_to`: a path without a host belongs to `base_url`, not to the URL of the request.
   */
  | ({ kind: 'body_url'; path: PollPath; parameter?: string; relative_to?: 'base_url' } & PollEnd)
  /**
   * The value at `path` of a page's last record, such as its ID, sent as a parameter. `json`: a list or
   * an object, such as its sort values, sent as it is in a body.
   */
  | ({ kind: 'last_record'; path: PollPath; parameter: string; json?: true } & PollEnd)
  /**
   * Index of the first record, counted from `first` (0 by default). The next index is one page
   * further: by the records in the page, or, with `step: 'page_size'`, by its size. `end`: where the
   * index after the last requested record is sent.
   */
  | ({ kind: 'offset'; parameter: string; end?: string; first?: number; step?: 'page_size' } & PollEnd &
      Pick<PollTotals, 'total'>)
  /**
   * The vendor remembers what it returned: the same request, or `next` of the stream, returns the next
   * page.
   */
  | ({ kind: 'repeat' } & PollEnd)
  /**
   * No pages, but the newest records up to `{{until}}`, newest first: the next request has the time of
   * the page's last record as `{{until}}`.
   */
  | ({ kind: 'narrow' } & PollEnd)
  /** Page number. */
  | ({ kind: 'page'; parameter: string; first: number } & PollEnd & PollTotals);

/**
 * Setting with the time to start from, or with how far before now to start: `ago`. Empty: now, as without
 * a start.
 */
export type PollStart = PollField | ({ ago: PollField } & PollDuration);

export type PollCursor =
  /** Overlapping time windows. Records already seen in the overlap are not delivered again. */
  | {
      kind: 'time';
      start?: PollStart;
      /** Seconds by which each window reaches back, so that late records are found. */
      overlap_seconds: number;
      /**
       * `descending`: the newest records come first, and pages end with the first page whose last
       * record is older than the window, so that no `{{since}}` is needed. `any`: neither a filter
       * nor an order by time; every poll reads all pages, and older records are left out.
       * `ascending`: a window that has to be read again begins at the newest record read.
       */
      order?: 'ascending' | 'descending' | 'any';
      /** Longest window that the vendor accepts, in seconds. */
      longest_seconds?: PollNumber;
      /** The vendor accepts whole days only. Records older than requested are filtered out. */
      whole_days?: true;
      /**
       * Seconds for which the vendor keeps records. No older ones are requested: a back-fill starts
       * there.
       */
      retention_seconds?: number;
      /** Number of records remembered for the overlap. Default 20,000. */
      seen?: number;
      /**
       * `again`: page cursors expire; after a stop, the window is read again from its beginning.
       */
      resume?: 'again';
    }
  /**
   * The vendor returns a next link or token even if there are no more records; the next poll
   * continues there. If it has expired, reading continues from the newest record, as with `time`.
   */
  | { kind: 'link'; start?: PollStart; overlap_seconds: number; retention_seconds?: number; seen?: number }
  /**
   * The vendor returns a token that stays valid, such as a stream position or a delta link; the
   * next poll continues there. If it has expired, reading starts over.
   */
  | {
      kind: 'continue';
      /**
       * Where the last page has the token: a string that is sent as `parameter`, or a URL. Absent:
       * the token is that of the next page, which a response has even if there are no more records.
       */
      token?: { path: PollPath; parameter?: string };
      /** Request that returns the first token, without records. `token` is its path. */
      first?: PollRequest & { token: PollPath };
    }
  /**
   * Records have ascending IDs, and `{{after}}` requests those after the last one. `first` is its
   * value at the first request, where the vendor requires one. `descending`: the newest records come
   * first, without `{{after}}`, and pages end at the last ID of the previous poll.
   */
  | { kind: 'id'; first?: string; more?: PollPath; order?: 'descending' }
  /** Reads everything on each poll. */
  | { kind: 'none' };
