import { type Egress, EgressError, type EgressInit, type EgressReason } from '@connector-frame/engine/connector-api';
import { unreachable, type Subject } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

/** Maximum bytes of one page. The largest pages of any vendor are a few MB. */
const MAX_PAGE = 16 * 1024 * 1024;
const PERMANENT_REASONS: readonly EgressReason[] = [
  'egress_refused',
  'invalid_address',
  'invalid_header',
  'redirected',
  'too_large',
];

export type ExchangeInit = Pick<EgressInit, 'method' | 'body' | 'repeatable' | 'redirect' | 'verifyTls' | 'ca'> & {
  headers: Headers;
  signal: AbortSignal;
};

/** Sends a request. @throws PollError, or the signal's reason */
export async function exchange(egress: Egress, url: URL, init: ExchangeInit, subject: Subject): Promise<Response> {
  try {
    return await egress.fetch(url, { ...init, maxBytes: MAX_PAGE });
  } catch (error) {
    init.signal.throwIfAborted();
    if (!(error instanceof EgressError)) throw error;
    const { reason } = error;
    const outcome =
      reason === 'too_large'
        ? failed('unexpected_answer', `${subject.product} returned a response larger than 16 MiB.`)
        : unreachable(reason, subject);
    throw new PollError(outcome, PERMANENT_REASONS.includes(reason) ? 'permanent' : 'retry');
  }
}
