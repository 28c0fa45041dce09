import type { EgressReason } from '@connector-frame/engine/connector-api';
import { failed, type Failure } from './outcome.js';

/** The server under test, and the fields that configure the connection to it. */
export interface Subject {
  /** Name as used in a sentence: `Okta`, `the server`. */
  product: string;
  /** Pointer to the field that holds the address. Absent: the vendor's address is fixed. */
  address?: string;
  /** Pointer to the field that holds the credential. */
  credential?: string;
}

/** Failure outcomes by egress error. */
const ways: Readonly<Record<EgressReason, (subject: Subject) => Failure>> = {
  egress_refused: ({ address }) =>
    failed('egress_refused', 'This address is on a network that is closed to connectors.', {
      hint: 'Use an address on the public internet, or ask your administrator to open this one.',
      at: address,
    }),
  dns_failed: ({ address }) =>
    failed('dns_failed', 'The host name could not be resolved.', {
      hint: 'Check the address for typing errors.',
      at: address,
    }),
  connect_failed: ({ product, address }) =>
    failed('connect_failed', `${capital(product)} could not be reached.`, {
      hint: address ? 'Check the address and the port, and that a firewall lets us in.' : 'Try again later.',
      at: address,
    }),
  timeout: ({ product, address }) =>
    failed('timeout', `${capital(product)} did not answer in time.`, {
      hint: address ? 'Check the address and the port, and that a firewall lets us in.' : 'Try again later.',
      at: address,
    }),
  tls_failed: ({ product, address }) =>
    failed('tls_failed', `No secure connection to ${product}: its certificate is not trusted, or there is none.`, {
      hint: 'Check that the address is one the certificate was made for.',
      at: address,
    }),
  redirected: ({ address }) =>
    failed('redirected', 'This address redirects to another site.', {
      hint: 'Enter the address where it ends. Credentials are never sent along.',
      at: address,
    }),
  invalid_address: ({ address }) =>
    failed('invalid_config', 'This is not an address we can connect to.', { at: address }),
  invalid_header: ({ credential }) =>
    failed('invalid_config', 'This holds a character that can not be sent, such as a line break.', { at: credential }),
  too_large: unexpected,
  invalid_answer: unexpected,
};

export function unreachable(reason: EgressReason, subject: Subject): Failure {
  return ways[reason](subject);
}

/** The response is not one that the product would send. */
export function unexpected({ product, address }: Subject): Failure {
  return failed('unexpected_answer', `Something answered, but not as ${product} does.`, {
    hint: address ? 'Check that the address is the right one.' : 'Try again later.',
    at: address,
  });
}

/**
 * Maps an HTTP status to a failure, for statuses to which the vendor assigns no specific meaning.
 * Do not call it for a success.
 */
export function statusFailure(status: number, subject: Subject): Failure {
  const { address, credential } = subject;
  const product = capital(subject.product);
  if (status === 401)
    return failed('invalid_credentials', `${product} did not accept the credentials.`, { at: credential });
  if (status === 403)
    return failed('forbidden', `${product} does not allow this with these credentials.`, { at: credential });
  if (status === 404) return failed('not_found', `${product} has nothing at this address.`, { at: address });
  if (status === 429) {
    return failed('rate_limited', `${product} is limiting requests right now.`, { hint: 'Try again in a minute.' });
  }
  if (status >= 500) {
    return failed('upstream_error', `${product} returned a server error (HTTP ${status}).`, {
      hint: 'Try again later.',
    });
  }
  if (status >= 400) return failed('rejected', `${product} refused the request (HTTP ${status}).`);
  return unexpected(subject);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
