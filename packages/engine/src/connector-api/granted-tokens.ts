/**
 * Access tokens of accounts that a customer connected (OAuth 2.0), by the field of their secret. The
 * configuration contains the token that was valid when it was read.
 */
export interface GrantedTokens {
  /** Returns whether the secret of a field is a connected account. */
  has(field: string): boolean;
  /**
   * Returns a token that is valid now. Refreshes it if it has expired.
   * @param rejected a token that the vendor no longer accepts: another one is returned
   * @throws {ConnectorError} `needs_reauth`, permanent: the customer has to connect the account again
   */
  get(field: string, rejected?: string): Promise<string>;
}
