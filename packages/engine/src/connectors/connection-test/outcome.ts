import type { Issue } from '@connector-frame/catalog/types';
import type { TestFailureReason, TestOutcome } from './tester.js';

export type Failure = Extract<TestOutcome, { ok: false }>;

export interface FailureDetails {
  /** What to do next. */
  hint?: string;
  /** Pointers of the fields that are likely wrong; absent ones are left out. */
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

/** A field the schema leaves optional, but which a connection needs. */
export function missing(path: string, message: string): Failure {
  return { ok: false, reason: 'invalid_config', message, issues: [{ path, code: 'required', message }] };
}
