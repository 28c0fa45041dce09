/**
 * Why a connection did not happen. Stable.
 *
 * - `invalid_address`: not an address this protocol can reach (scheme, port, host, embedded credentials)
 * - `invalid_header`: a header name or value that HTTP can't carry
 * - `egress_refused`: the host is, or resolves to, an address the operator keeps closed
 * - `dns_failed`: the name has no address
 * - `connect_failed`: nobody answered at the address, or the connection broke
 * - `timeout`: the time was up
 * - `tls_failed`: no TLS there, or a certificate that is not trusted
 * - `redirected`: to another origin, or more than three times
 * - `too_large`: the answer is longer than asked for
 * - `invalid_answer`: not HTTP
 */
export type EgressReason =
  | 'invalid_address'
  | 'invalid_header'
  | 'egress_refused'
  | 'dns_failed'
  | 'connect_failed'
  | 'timeout'
  | 'tls_failed'
  | 'redirected'
  | 'too_large'
  | 'invalid_answer';

/**
 * A refused or failed connection. `message` is for operators and may name hosts and addresses; it never holds a
 * header, a body or a path. People who fill in a form get a sentence made from `reason`.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';

  constructor(
    readonly reason: EgressReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
