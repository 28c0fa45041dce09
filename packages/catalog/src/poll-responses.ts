/** Responses of a `poll` definition: what they mean, and how they limit requests. */
import type { PollField, PollPath } from './poll-request.js';

/**
 * - `accepted`: read like any success; `empty`: no records, whatever the body contains
 * - `throttled`: sent again when the vendor allows it; `retry`: sent again soon
 * - the others: a person has to change something, so it is retried seldom
 */
export type PollMeaning =
  | 'accepted'
  | 'empty'
  | 'throttled'
  | 'retry'
  | 'invalid_credentials'
  | 'forbidden'
  | 'not_found'
  | 'rejected';

/**
 * What a response means, if its status does not say it. All that is stated must match: the status,
 * and the value in `header`, or at `path` of the body.
 */
export interface PollResponseRule {
  /** Default: any. */
  status?: number | readonly number[];
  header?: string;
  path?: PollPath;
  /** Values that match, compared as text. Default: any that is not empty, `false` or `null`. */
  in?: readonly (string | number | boolean)[];
  /** Values that don't match. */
  not?: readonly (string | number | boolean)[];
  /** Text that the value contains, in any case. */
  contains?: string;
  means: PollMeaning;
  /** Sentence for the user, instead of the general one. */
  message?: string;
}

/** Format of a time to wait until: a duration, or a time by the vendor's clock. */
export type PollWaitForm = 'seconds' | 'milliseconds' | 'epoch' | 'epoch_milliseconds' | 'date';

/** A quota of requests, as reported in the headers of each response. */
export interface PollQuota {
  /** Header with the number of remaining requests. At 0, no request is sent until `reset`. */
  remaining?: string;
  reset?: string;
  /** Format of `reset`. Default `epoch`: seconds since 1970. `date` is RFC 9110 or RFC 3339. */
  reset_form?: PollWaitForm;
}

export interface PollRate extends PollQuota {
  /** Further quotas, such as one per minute and one per day. */
  quotas?: readonly PollQuota[];
  /** Where a throttled response says how long to wait, if not in `Retry-After`. */
  retry_after?: { header?: string; path?: PollPath; form?: PollWaitForm };
  /** Seconds to wait when the vendor throttles without a time. Default 60. */
  wait_seconds?: number;
  /** Responses other than 429 that mean throttling. */
  throttled?: readonly PollThrottled[];
  /** Setting with the customer's own rate limit: `{ rate, unit }`, or a number of requests `per` unit. */
  limit?: PollField | { field: PollField; per: 'second' | 'minute' | 'hour' };
}

/**
 * A response with this status and either this header (with the value `is`), or one of these strings
 * at `path` of its body.
 */
export type PollThrottled =
  | { status: number; header: string; is?: string }
  | { status: number; path: PollPath; in: readonly string[] };
