/** Streams of a `poll` definition that take more than one request: parents, details and exports. */

import type { PollPagination } from './poll-pages.js';
import type { PollCondition, PollField, PollOnly, PollPath, PollRequest } from './poll-request.js';

/**
 * What a stream is read for, once for each entry. `{{each}}` is its ID or value, and
 * `{{each/region}}` a value of an entry that is an object. Each entry has its own cursor.
 */
export type PollEach =
  /**
   * The IDs of a list of the vendor. With its own `each`, the list is read for each entry of
   * another one, whose ID is `{{parent}}` in this list's requests and in those of the stream.
   */
  | (PollRequest & {
      /** `only` keeps some entries, such as the one whose name is in a setting. */
      records: { path: PollPath; id: PollPath; only?: PollOnly | readonly PollOnly[] };
      /** List setting, or name of a list in `values`, that is used instead, unless it is empty. */
      setting?: PollField;
      page_size: number;
      pagination: PollPagination;
      /** Seconds for which the list is not read again. Default 0: it is read with each poll. */
      refresh_seconds?: number;
      each?: PollEach;
    })
  /** The values of a list setting, or of one value. `id`: the ID of entries that are objects. */
  | { setting: PollField; id?: PollPath }
  | { values: readonly string[] };

/**
 * A request for each new record of a list, or for several of them. `{{/record/...}}` is a value of
 * the list's record. If the vendor no longer has it (404, 410), the list's record is delivered.
 */
export interface PollDetail extends PollRequest {
  /** Requested only if these hold; otherwise the list's records are delivered. */
  when?: PollCondition | readonly PollCondition[];
  /**
   * Path of the detail in the response; with `batch`, of the list of details, and the path of the
   * ID in each. Default: the whole response.
   */
  records?: { path: PollPath; id?: PollPath };
  /**
   * `merge` (default): the properties of the detail are added to those of the list's record.
   * `replace`: the detail, or each record if it is a list, is delivered instead. Another text: the
   * detail becomes a property of this name.
   */
  into?: string;
  /** Requests at the same time. Default 4. */
  concurrency?: number;
  /**
   * Number of records in one request. Their IDs, from `ids` or else `records.id` of the stream, are
   * `{{ids}}`: a list in a body, joined with a comma elsewhere.
   */
  batch?: number;
  /** Path of the ID in the list's record, if `records.id` is another, such as that of an `early` detail. */
  ids?: PollPath;
  /**
   * Requested for all records of a page, before their `id`, `time` and `only` count: for lists of
   * nothing but IDs. Those in the overlap of a time window are requested again with each poll.
   */
  early?: true;
}

/**
 * A request for each record once it is stored, which marks it as read at the vendor. `{{id}}` is its
 * `records.id`. It is repeated with each poll until it succeeds, or the vendor no longer has the record
 * (404, 410).
 */
export interface PollAcknowledge extends PollRequest {
  when?: PollCondition | readonly PollCondition[];
}

/**
 * An export that the vendor prepares. The stream's own request then reads the result, for each part
 * if there are several. The stored cursor holds the job, so that a restart continues it.
 */
export interface PollJob {
  /** Starts the job. `id` is the path of its ID in the response, `{{job}}` in other requests. */
  start: PollRequest & { id: PollPath };
  /**
   * Runs the last export once more instead of starting another, where the vendor keeps each of them.
   * `{{job}}` is its ID. If the vendor rejects it, or what `start` sends has changed, `start` is sent.
   */
  again?: PollRequest & { id: PollPath };
  /**
   * Repeated with each poll until the value at `value` is in `done`. `failed`: values with which the
   * job is given up. Absent: the result is there at once.
   */
  status?: PollRequest & { value: PollPath; done: readonly string[]; failed?: readonly string[] };
  /**
   * Path of the parts in the status: their IDs, or objects with it at `id`, as `{{part}}`. One text is
   * a single part. `url`: each is a URL of the same origin that is requested instead of the stream's own.
   */
  parts?: { path: PollPath; id?: PollPath; url?: true };
  /** Seconds between the starts of two jobs. Absent if the definition has a `schedule`. */
  every_seconds?: number;
  /** Seconds after which an unfinished job is given up. Default 21,600. */
  timeout_seconds?: number;
}
