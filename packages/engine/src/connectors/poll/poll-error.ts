import type { Failure } from '../connection-test/outcome.js';
import { EndError, type FailureKind } from '../../runner/ends.js';

/** A failed request to a vendor, with the connection test outcome that describes it. */
export class PollError extends EndError {
  constructor(
    readonly outcome: Failure,
    kind: FailureKind,
    details: { afterMs?: number; status?: number } = {},
  ) {
    super(outcome.reason, outcome.message, kind, details.afterMs);
    this.status = details.status;
  }
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
}
