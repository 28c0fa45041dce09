/** The state machine of the form. Pure; ignores events that do not apply to the current state. */
import type { Failure, FormState, FormSubject, TestState } from './state.js';

export type FormEvent =
  | { type: 'loading' }
  | { type: 'loaded'; subject: FormSubject }
  | { type: 'load_failed'; failure: Failure; canRetry: boolean }
  /** A field changed, so the result of a passed test no longer applies. */
  | { type: 'edited' }
  /** Fields have errors; nothing was sent. */
  | { type: 'rejected' }
  | { type: 'saving' }
  | { type: 'saved'; address?: string }
  | { type: 'save_failed'; failure?: Failure }
  | { type: 'testing' }
  | { type: 'tested'; test: TestState }
  /** A save or test failed because the session expired and the host provided no new one. */
  | { type: 'expired'; failure: Failure }
  /** The host provided a new session. */
  | { type: 'renewed' }
  /** The latest version of the connector was loaded; the user's edits stay on top of it. */
  | { type: 'rebased' }
  /** The browser is online again. */
  | { type: 'online' }
  /**
   * The user canceled, or the host asked to unload, while there are unsaved edits; or the user has
   * answered.
   */
  | { type: 'leaving'; leaving: boolean };

type Editing = Extract<FormState, { phase: 'editing' }>;

/** Removes the failure and the result of the last test; a running test continues. */
function withoutOutcome({ failure: _failure, ...state }: Editing): Editing {
  return state.test.state === 'running' ? state : { ...state, test: { state: 'idle' } };
}

const isOffline = ({ failure, test }: Editing): boolean =>
  (failure ?? ('failure' in test ? test.failure : undefined))?.code === 'offline';

const editing = (subject: FormSubject): Editing => ({
  phase: 'editing',
  subject,
  saving: false,
  test: { state: 'idle' },
  expired: false,
});

export function transition(state: FormState, event: FormEvent): FormState {
  // Again while editing: the edits were discarded.
  if (event.type === 'loaded' && (state.phase === 'loading' || state.phase === 'editing'))
    return editing(event.subject);
  if (state.phase !== 'editing') {
    if (event.type === 'loading') return state.phase === 'load_failed' ? { phase: 'loading' } : state;
    if (state.phase !== 'loading') return state;
    return event.type === 'load_failed'
      ? { phase: 'load_failed', failure: event.failure, canRetry: event.canRetry }
      : state;
  }
  switch (event.type) {
    case 'edited':
      return state.test.state === 'passed' ? { ...state, test: { state: 'idle' } } : state;
    case 'rejected':
    case 'rebased':
      return withoutOutcome(state);
    case 'saving':
      return { ...withoutOutcome(state), saving: true, expired: false };
    case 'saved':
      return { phase: 'saved', subject: { ...state.subject, ...(event.address && { address: event.address }) } };
    case 'save_failed':
      return {
        ...withoutOutcome(state),
        saving: false,
        expired: false,
        ...(event.failure && { failure: event.failure }),
      };
    case 'testing':
      return { ...withoutOutcome(state), test: { state: 'running' }, expired: false };
    case 'tested':
      return { ...state, test: event.test };
    case 'expired':
      return { ...state, saving: false, test: { state: 'idle' }, failure: event.failure, expired: true };
    case 'leaving':
      return { ...state, leaving: event.leaving };
    case 'renewed':
      return state.expired ? { ...withoutOutcome(state), expired: false } : state;
    case 'online':
      return isOffline(state) ? withoutOutcome(state) : state;
    default:
      return state;
  }
}
