import type { Messages } from '../messages/index.js';
import { ApiError, SessionExpired } from './api-error.js';
import { NoAnswer } from './retry.js';
import type { Failure } from './state.js';

/** What the form was doing. */
export type Action = 'load' | 'save' | 'test';

/** A typed secret would go where the person could not see that it goes. */
export class DestinationNotSeen extends Error {
  override readonly name = 'DestinationNotSeen';
}

type Sentence = keyof Messages['failures'];

/** A failure in words, with the code for the host page. */
export function failureFor(sentence: Sentence, messages: Messages, code: string = sentence): Failure {
  const [message = '', hint = ''] = messages.failures[sentence];
  return { code, message, hint };
}

function sentenceFor(error: unknown, action: Action): Sentence {
  if (error instanceof SessionExpired) return 'session_expired';
  if (error instanceof DestinationNotSeen) return 'destination_not_seen';
  if (!(error instanceof ApiError)) return error instanceof NoAnswer && error.offline ? 'offline' : 'unreachable';
  const { status, type } = error;
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404)
    return action !== 'load' || type === 'connector_not_found' ? 'connector_not_found' : 'type_not_found';
  if (status === 412) return 'changed_elsewhere';
  if (status === 429) return 'busy';
  return action === 'save' && status < 500 && status !== 409 ? 'invalid' : `${action}_failed`;
}

/** Sentences the host page knows by the name of what failed. */
const GENERAL: readonly Sentence[] = ['unreachable', 'busy', 'changed_elsewhere', 'invalid'];

/** What went wrong, as a person reads it. Never holds what a person typed: where the words are the service's, they are its own. */
export function failureOf(error: unknown, action: Action, messages: Messages): Failure {
  const sentence = sentenceFor(error, action);
  const failure = failureFor(sentence, messages, GENERAL.includes(sentence) ? `${action}_failed` : sentence);
  // The service's own words say more about a test than ours could.
  if (sentence === 'test_failed' && error instanceof ApiError && error.message)
    return { code: sentence, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  if (action === 'save') failure.hint = messages.kept(failure.hint ?? '');
  return sentence === 'changed_elsewhere' ? { ...failure, action: 'reload' } : failure;
}
