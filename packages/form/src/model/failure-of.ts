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

/** Creates a failure that has a code of its own for the host page. */
export function failureFor(code: keyof Messages['failures'], { failures }: Messages): Failure {
  const [message, hint] = failures[code];
  return { code, message, hint };
}

/**
 * Returns whether an error is the result of a connection test, and not a failure to test. The
 * service wrote its message for the user.
 */
export const isTestResult = (error: unknown): error is ApiError =>
  error instanceof ApiError && /^(test_failed|egress_refused)$/.test(error.type);

function sentenceFor(error: unknown, action: Action): keyof Messages['failures'] | keyof Messages['reasons'] {
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
  if (status === 503 || (status === 429 && !error.details.limit)) return 'busy';
  // Only this user's requests count against these two limits.
  if (status === 429)
    return error.details.limit === 'session' || error.details.limit === 'test' ? 'too_often' : 'limit_reached';
  if (action === 'test') return 'not_tested';
  return action === 'save' && status < 500 && status !== 409 ? 'invalid' : `${action}_failed`;
}

/**
 * Converts an error to a failure for the user. The failure never contains user input: a message
 * taken from the service is the service's own text.
 */
export function failureOf(error: unknown, action: Action, messages: Messages): Failure {
  const sentence = sentenceFor(error, action);
  const [message, hint] = { ...messages.failures, ...messages.reasons }[sentence];
  // A reason has no code of its own.
  const failure: Failure = { code: sentence in messages.reasons ? `${action}_failed` : sentence, message, hint };
  // The service's message about a failed test is more specific than the form's.
  if (isTestResult(error) && error.message)
    return { ...failure, message: error.message, hint: error.details.hint ?? '' };
  if (action === 'save') failure.hint = messages.kept(hint);
  return sentence === 'changed_elsewhere' ? { ...failure, action: 'reload' } : failure;
}
