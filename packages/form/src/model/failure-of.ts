import type { Messages } from '../messages/index.js';
import { ApiError, SessionExpired } from './api-error.js';
import { NoAnswer } from './retry.js';
import type { Failure } from './state.js';

/** What the form was doing. */
export type Action = 'load' | 'save' | 'test';

type Sentence = keyof Messages['failures'];

/** Codes the host page knows, where they differ from the sentence's name. */
const CODES: Partial<Record<Sentence, string>> = {
  changed_elsewhere: 'save_failed',
  secret_reentry_required: 'save_failed',
  too_large: 'save_failed',
  invalid: 'save_failed',
  no_test: 'test_failed',
  egress_refused: 'test_failed',
};

/** A failure in words, with the code for the host. */
export function failureFor(
  sentence: Sentence,
  messages: Messages,
  code: string = CODES[sentence] ?? sentence,
): Failure {
  const [message, hint] = messages.failures[sentence];
  return { code, message, hint };
}

function sentenceFor(error: unknown, action: Action): Sentence {
  if (error instanceof SessionExpired) return 'session_expired';
  if (error instanceof NoAnswer) return error.offline ? 'offline' : 'unreachable';
  if (!(error instanceof ApiError)) return action === 'load' ? 'load_failed' : 'unreachable';
  const { status, type } = error;
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404)
    return action === 'load' && type !== 'connector_not_found' ? 'type_not_found' : 'connector_not_found';
  if (status === 412) return 'changed_elsewhere';
  if (status === 413) return 'too_large';
  if (status === 429) return 'busy';
  if (action === 'save' && (status === 400 || status === 422) && type !== 'secret_reentry_required') return 'invalid';
  if (type === 'secret_reentry_required' || type === 'no_test' || type === 'egress_refused') return type;
  return `${action}_failed`;
}

/** What went wrong, as a person reads it. Never holds what a person typed: where the words are the service's, they are its own. */
export function failureOf(error: unknown, action: Action, messages: Messages): Failure {
  const sentence = sentenceFor(error, action);
  const general = sentence === 'unreachable' || sentence === 'busy';
  const failure = failureFor(sentence, messages, general ? `${action}_failed` : undefined);
  // The service's own words say more about a test than ours could.
  if (error instanceof ApiError && error.message && (sentence === 'test_failed' || sentence === 'egress_refused'))
    return { ...failure, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  if (action === 'save') failure.hint = `${messages.kept} ${failure.hint ?? ''}`.trim();
  return sentence === 'changed_elsewhere' ? { ...failure, action: 'reload' } : failure;
}
