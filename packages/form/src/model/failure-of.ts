import type { Messages } from '../messages/index.js';
import { ApiError, SessionExpired } from './api-error.js';
import { NoResponse } from './retry.js';
import type { Failure } from './state.js';

/** The operation that failed. */
export type Action = 'load' | 'save' | 'test';

/** Thrown instead of sending a secret whose destination the user could not see. */
export class DestinationNotSeen extends Error {
  override readonly name = 'DestinationNotSeen';
}

type Sentence = keyof Messages['failures'];

/** Creates a failure with its message, and with the code for the host page. */
export function failureFor(sentence: Sentence, messages: Messages, code: string = sentence): Failure {
  const [message = '', hint = ''] = messages.failures[sentence];
  return { code, message, hint };
}

/** Rate limits that only this user's own requests count against. */
const OWN_LIMITS: ReadonlySet<string | undefined> = new Set(['session', 'test']);
/** Errors whose message the service wrote for the user who tests a connection. */
const TEST_RESULTS: ReadonlySet<string> = new Set(['test_failed', 'egress_refused', 'no_test']);

/** Returns whether an error is the result of a connection test, and not a failure to test. */
export const isTestResult = (error: unknown): error is ApiError =>
  error instanceof ApiError && TEST_RESULTS.has(error.type);

function sentenceFor(error: unknown, action: Action): Sentence {
  if (error instanceof SessionExpired) return 'session_expired';
  if (error instanceof DestinationNotSeen) return 'destination_not_seen';
  if (isTestResult(error)) return 'test_failed';
  if (!(error instanceof ApiError)) return error instanceof NoResponse && error.offline ? 'offline' : 'unreachable';
  const { status, type } = error;
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404)
    return action !== 'load' || type === 'connector_not_found' ? 'connector_not_found' : 'type_not_found';
  if (status === 412) return 'changed_elsewhere';
  // A service that does not name the limit may mean its own load.
  if (status === 503 || (status === 429 && !error.limit)) return 'busy';
  if (status === 429) return OWN_LIMITS.has(error.limit) ? 'too_often' : 'limit_reached';
  if (action === 'test') return 'not_tested';
  return action === 'save' && status < 500 && status !== 409 ? 'invalid' : `${action}_failed`;
}

/** Messages whose code for the host page names the operation that failed. */
const GENERAL: readonly Sentence[] = [
  'unreachable',
  'busy',
  'too_often',
  'limit_reached',
  'not_tested',
  'changed_elsewhere',
  'invalid',
];

/**
 * Converts an error to a failure for the user. The failure never contains user input: a message
 * taken from the service is the service's own text.
 */
export function failureOf(error: unknown, action: Action, messages: Messages): Failure {
  const sentence = sentenceFor(error, action);
  const failure = failureFor(sentence, messages, GENERAL.includes(sentence) ? `${action}_failed` : sentence);
  // The service's message about a failed test is more specific than the form's.
  if (isTestResult(error) && error.message)
    return { code: sentence, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  if (action === 'save') failure.hint = messages.kept(failure.hint ?? '');
  return sentence === 'changed_elsewhere' ? { ...failure, action: 'reload' } : failure;
}
