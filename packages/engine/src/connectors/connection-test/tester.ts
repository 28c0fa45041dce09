/** What a connection test is: from a configuration with its secrets in clear to an outcome in our own words. */
import type { Issue } from '@connector-frame/catalog/types';
import type { Egress } from '../../egress/egress.js';

export type { Egress, EgressInit, EgressTarget } from '../../egress/egress.js';

/**
 * Stable; a host may branch on it and a form may translate by it.
 *
 * Ours to find: `invalid_config` (the fields don't make up a connection), `unsupported` (can't be tested from here).
 * From the other side: `invalid_credentials`, `forbidden`, `not_found`, `rate_limited`, `upstream_error` (5xx),
 * `rejected` (another refusal), `unexpected_answer` (not the product that was expected).
 * From the way there: the rest, see `EgressReason`.
 */
export type TestFailureReason =
  | 'invalid_config'
  | 'unsupported'
  | 'invalid_credentials'
  | 'forbidden'
  | 'not_found'
  | 'rate_limited'
  | 'upstream_error'
  | 'rejected'
  | 'unexpected_answer'
  | 'egress_refused'
  | 'dns_failed'
  | 'connect_failed'
  | 'timeout'
  | 'tls_failed'
  | 'redirected';

/** Sentences are ours, for the person who fills in the form: never a word of what the other side answered. */
export type TestOutcome =
  | { ok: true; /** What was proved, in one sentence: `Read 1 event`. */ summary?: string }
  | {
      ok: false;
      reason: TestFailureReason;
      message: string;
      /** What to do next. */
      hint?: string;
      /** On the fields that are likely wrong; pointers from the config: `/secrets/api_key`. */
      issues?: Issue[];
    };

export interface TesterConfig {
  settings: Record<string, unknown>;
  /** In clear: a string, or a map of strings. */
  secrets: Record<string, unknown>;
}

export interface TesterContext {
  egress: Egress;
  /** Aborted when the caller is gone or the time is up; the outcome is then `timeout`. */
  signal: AbortSignal;
}

/**
 * Connects for real, with the configuration as given, and leaves nothing behind that the form did not announce.
 * `config` has passed the type's schema. A failure of the other side is an outcome; only a bug rejects.
 */
export type Tester = (config: TesterConfig, context: TesterContext) => Promise<TestOutcome>;
