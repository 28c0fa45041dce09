import type { Failure } from '../connection-test/outcome.js';
import { EndError, type FailureKind } from '../../runner/ends.js';

/** What went wrong while asking a vendor, in the words a connection test has for it. */
export class PollError extends EndError {
  constructor(
    readonly outcome: Failure,
    kind: FailureKind,
    details: { afterMs?: number; status?: number } = {},
  ) {
    super(outcome.reason, outcome.message, kind, details.afterMs);
    this.status = details.status;
  }
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
}
