/** What an exchange of a secret returned. */
export interface Exchanged<T> {
  readonly result: T;
  /** The new value of the secret. Absent: the vendor keeps accepting the old one. */
  readonly replacement?: string;
}

/** A stored secret that its vendor may replace while it is used, such as an OAuth refresh token. */
export interface ReplaceableSecret {
  /**
   * Returns the value that is stored now. It may be newer than the one in the configuration.
   * @throws {ConnectorError} `secret_unreadable`, permanent; of kind `retry` if the storage fails
   */
  read(): Promise<string>;
  /**
   * Exchanges the stored value, and stores its replacement before the result is returned. Exchanges
   * of one secret run one at a time, in all pipelines and processes that use it: vendors revoke the
   * whole grant when an old value is presented. A value that a person saves meanwhile is kept.
   *
   * If the storage fails, the replacement is kept in memory, and the next call stores it before
   * anything else.
   *
   * @param run gets the stored value. If it rejects, the stored value stays
   * @param reuse gets the result of an earlier exchange with the same configuration, by this or
   *   another pipeline, or `undefined`. If it returns a result, there is no exchange
   * @throws {ConnectorError} what `run` throws, and as `read`
   *
   * @example
   * ```ts
   * const token = await secret.exchange(async (refreshToken) => {
   *   const response = await refresh(refreshToken);
   *   return { result: response.accessToken, replacement: response.refreshToken };
   * });
   * ```
   */
  exchange<T>(run: (value: string) => Promise<Exchanged<T>>, reuse?: (earlier: unknown) => T | undefined): Promise<T>;
}

/** The stored secrets of one connector. */
export interface ReplaceableSecrets {
  /** Returns the secret of a field, or `undefined` if its value is only in the configuration. */
  of(field: string): ReplaceableSecret | undefined;
}
