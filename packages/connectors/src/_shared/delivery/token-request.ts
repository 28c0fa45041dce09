import type { Egress } from '@connector-frame/engine/connector-api';
import { type Subject, statusFailure as testFailure } from '../connection-test/failures.js';
import { statusFailure } from '../output/failures.js';
import { send } from '../output/send.js';
import { PollError } from '../poll/poll-error.js';
import type { GrantRequester } from '../poll/signing.js';

/** Returns a function that requests tokens. RFC 6749, 5.2: an unknown client gets 400 or 401. */
export function tokenRequester(egress: Egress, subject: Subject, now: () => number): GrantRequester {
  return async ({ url, ...grant }, signal) => {
    const response = await send(egress, { url: url.href, ...grant, product: subject.product }, signal);
    const { status, headers, text } = response;
    if ([400, 401, 403].includes(status)) throw new PollError(testFailure(401, subject), 'permanent', { status });
    const isRedirect = grant.redirect === 'manual' && status >= 300 && status <= 399;
    if (!isRedirect && (status < 200 || status > 299)) throw statusFailure(response, subject.product, now());
    const date = Date.parse(headers.get('date') ?? '');
    return { headers, text, body: parse(text), at: Number.isNaN(date) ? now() : date };
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
