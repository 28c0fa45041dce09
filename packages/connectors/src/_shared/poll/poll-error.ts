import type { Failure } from '../connection-test/outcome.js';
import { ConnectorError, type FailureKind } from '@connector-frame/engine/connector-api';

/** A failed request to a vendor, with the connection test outcome that describes it. */
export class PollError extends ConnectorError {
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
