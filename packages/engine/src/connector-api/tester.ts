/**
 * Connection tests: functions from a configuration with plaintext secrets to an outcome whose
 * messages this package writes.
 */
import type { Issue } from '@connector-frame/catalog/types';
import type { Egress } from '../egress/egress.js';
import type { ConnectorContext } from './connector-code.js';

export type { Egress, EgressInit, EgressTarget } from '../egress/egress.js';

/**
 * Stable: a host may branch on it and a form may use it as a translation key.
 *
 * - Found locally: `invalid_config` (the fields don't describe a connection), `unsupported` (can't
 *   be tested from here).
 * - From the server: `invalid_credentials`, `forbidden`, `not_found`, `rate_limited`,
 *   `upstream_error` (5xx), `rejected` (any other refusal), `unexpected_answer` (not the expected
 *   product).
 * - From the network: the rest, see `EgressReason`.
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

/**
 * Messages address the person who fills in the form. They never quote the server's response, which
 * may repeat a secret.
 */
export type TestOutcome =
  | { ok: true; /** What the test verified, in one sentence: `Read 1 event`. */ summary?: string }
  | {
      ok: false;
      reason: TestFailureReason;
      message: string;
      /** What to do next. */
      hint?: string;
      /** Fields that are likely wrong, by pointer into the config: `/secrets/api_key`. */
      issues?: Issue[];
    };

export interface TesterConfig {
  settings: Record<string, unknown>;
  /** In plaintext: strings, or maps of strings. */
  secrets: Record<string, unknown>;
}

export interface TesterContext extends Pick<
  ConnectorContext,
  'keyValues' | 'lookupFolders' | 'secrets' | 'tokens' | 'aws'
> {
  egress: Egress;
  /**
   * Aborted when the caller disconnects or the time limit expires; the outcome is then `timeout`.
   */
  signal: AbortSignal;
}

/**
 * Opens a real connection with the given configuration. Has no side effects on the server that the
 * form did not announce.
 *
 * Resolves with a failed outcome for any error of the server or the network; rejects only on a bug.
 *
 * @param config validated against the type's schema
 */
export type Tester = (config: TesterConfig, context: TesterContext) => Promise<TestOutcome>;
