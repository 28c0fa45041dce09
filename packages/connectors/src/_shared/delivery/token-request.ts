import { getAt } from '@connector-frame/catalog/validate';
import type { Egress } from '@connector-frame/engine/connector-api';
import { type Subject, statusFailure as testFailure, unexpected } from '../connection-test/failures.js';
import { statusFailure } from '../output/failures.js';
import { send } from '../output/send.js';
import { PollError } from '../poll/poll-error.js';
import type { TokenRequester } from '../poll/signing.js';

const DEFAULT_LIFETIME_S = 300;

/** Returns a function that requests tokens. RFC 6749, 5.2: an unknown client gets 400 or 401. */
export function tokenRequester(egress: Egress, subject: Subject, now: () => number): TokenRequester {
  return async ({ url, headers, body }, signal) => {
    const response = await send(egress, { url: url.href, headers, body, product: subject.product }, signal);
    const { status, text } = response;
    if ([400, 401, 403].includes(status)) throw new PollError(testFailure(401, subject), 'permanent', { status });
    if (status < 200 || status > 299) throw statusFailure(response, subject.product, now());
    const parsed = parse(text);
    const value: unknown = getAt(parsed, '/access_token');
    const lifetime = Number(getAt(parsed, '/expires_in') ?? DEFAULT_LIFETIME_S);
    if (typeof value !== 'string' || value === '') throw new PollError(unexpected(subject), 'retry');
    return { value, lifetime: lifetime > 0 ? lifetime : DEFAULT_LIFETIME_S };
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
