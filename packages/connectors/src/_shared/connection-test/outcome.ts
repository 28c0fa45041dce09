import type { Issue } from '@connector-frame/catalog/types';
import type { TestFailureReason, TestOutcome } from '@connector-frame/engine/connector-api';

export type Failure = Extract<TestOutcome, { ok: false }>;

export interface FailureDetails {
  /** What to do next. */
  hint?: string;
  /** Pointers to the fields that are likely wrong; `undefined` entries are ignored. */
  at?: string | undefined | readonly (string | undefined)[];
}

export function passed(summary: string): TestOutcome {
  return { ok: true, summary };
}

export function failed(reason: TestFailureReason, message: string, { hint, at }: FailureDetails = {}): Failure {
  const paths = new Set([at].flat());
  const issues = [...paths].flatMap((path): Issue[] => (path ? [{ path, code: 'pattern', message }] : []));
  return { ok: false, reason, message, ...(hint && { hint }), ...(issues.length > 0 && { issues }) };
}

/** Reports a missing field that the schema leaves optional but the connection requires. */
export function missing(path: string, message: string): Failure {
  return { ok: false, reason: 'invalid_config', message, issues: [{ path, code: 'required', message }] };
}
