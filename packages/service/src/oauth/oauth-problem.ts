/**
 * - `denied`: the customer refused
 * - `ended`: the vendor no longer accepts the refresh token
 * - `client`: the vendor does not accept the operator's client
 * - `refused`: any other rejection
 * - `unreachable`: no usable response; a retry may succeed
 */
export type OAuthProblemCode = 'denied' | 'ended' | 'client' | 'refused' | 'unreachable';

/** A failed exchange with an authorization server. The message never quotes its response. */
export class OAuthProblem extends Error {
  override readonly name = 'OAuthProblem';

  constructor(
    readonly code: OAuthProblemCode,
    options?: ErrorOptions,
  ) {
    super(`The authorization server: ${code}`, options);
  }
}
