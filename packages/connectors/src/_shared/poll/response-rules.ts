import type { PollMeaning, PollResponseRule } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { JsonValue } from '@connector-frame/engine/connector-api';
import { statusFailure, type Subject } from '../connection-test/failures.js';
import { failed, type Failure } from '../connection-test/outcome.js';
import { graphqlMeaning } from './graphql-errors.js';
import { PollError } from './poll-error.js';

export interface ResponseParts {
  status: number;
  headers: Headers;
  /** Absent: it does not have the expected format. */
  body: JsonValue | undefined;
}

export interface Interpretation {
  /** Absent: the status decides. */
  means: PollMeaning | undefined;
  message: string | undefined;
}

/** Returns what a response means by the first rule that matches, or by its GraphQL errors. */
export function interpret(
  rules: readonly PollResponseRule[],
  response: ResponseParts,
  isGraphql: boolean,
): Interpretation {
  const rule = rules.find((each) => matches(each, response));
  return {
    means: rule?.means ?? (isGraphql ? graphqlMeaning(response.body, response.status) : undefined),
    message: rule?.message,
  };
}

function matches(rule: PollResponseRule, { status, headers, body }: ResponseParts): boolean {
  if (rule.status !== undefined && ![rule.status].flat().includes(status)) return false;
  if (rule.header !== undefined && !fits(rule, headers.get(rule.header) ?? undefined)) return false;
  return rule.path === undefined || fits(rule, getAt(body, rule.path));
}

function fits({ in: list, not, contains }: PollResponseRule, value: unknown): boolean {
  const text = textOf(value);
  if (text === undefined) return false;
  if (not?.some((each) => String(each) === text)) return false;
  if (contains !== undefined) return text.toLowerCase().includes(contains.toLowerCase());
  if (list) return list.some((each) => String(each) === text);
  return not !== undefined || (text !== '' && value !== false);
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Statuses whose general messages fit a meaning. */
const STATUSES: Partial<Record<PollMeaning, number>> = { invalid_credentials: 401, forbidden: 403, not_found: 404 };

/** Returns the error for a response that means a failure other than throttling. */
export function failureOf({ means, message }: Interpretation, status: number, subject: Subject): PollError {
  const kind = means === 'retry' ? 'retry' : 'permanent';
  const general = generalFailure(means, subject);
  const outcome: Failure = message === undefined ? general : { ...general, message };
  return new PollError(outcome, kind, { status });
}

function generalFailure(means: PollMeaning | undefined, subject: Subject): Failure {
  const status = means === undefined ? undefined : STATUSES[means];
  if (status !== undefined) return statusFailure(status, subject);
  return means === 'retry'
    ? failed('upstream_error', `${subject.product} could not process the request right now.`, {
        hint: 'Try again later.',
      })
    : failed('rejected', `${subject.product} reported an error instead of the requested data.`);
}
