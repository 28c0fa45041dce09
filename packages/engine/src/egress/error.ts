/**
 * Why a request or connection failed. The codes are stable.
 *
 * - `invalid_address`: not an address this protocol can reach (scheme, port, host, embedded
 *   credentials)
 * - `invalid_header`: a header name or value that HTTP can't carry
 * - `egress_refused`: the host is, or resolves to, an address the operator keeps closed
 * - `dns_failed`: the name has no address
 * - `connect_failed`: no server answered at the address, or the connection broke
 * - `timeout`: the timeout expired
 * - `tls_failed`: the server does not speak TLS, or its certificate is not trusted
 * - `redirected`: redirected to another origin, or more than three times
 * - `too_large`: the response body is larger than `maxBytes`
 * - `invalid_answer`: the response is not HTTP
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
 * A refused or failed connection. `message` is for operators and may contain hosts and addresses,
 * but never a header, a body or a path. The form shows users a sentence derived from `reason`.
 */
export class EgressError extends Error {
  readonly reason: EgressReason;
  override readonly name = 'EgressError';

  constructor(reason: EgressReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
