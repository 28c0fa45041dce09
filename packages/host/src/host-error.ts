import type { HostRouteError } from '@connector-frame/core/connect';

/** Error codes between page and host. They are stable, so pages may branch on them. */
export type HostErrorCode = HostRouteError['code'];

const statuses: Record<HostErrorCode, number> = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  upstream_error: 502,
  internal_error: 500,
};

export interface HostErrorOptions extends ErrorOptions {
  /** Overrides the HTTP status of the code, for example with 405, 413 or 415. */
  status?: number;
  /** Response headers of the error, such as `allow` or `retry-after`. */
  headers?: Record<string, string>;
}

/**
 * An error response for the browser: `{ code, message }` and a status. Throw it from
 * `authorizeTenant` or `authorizeTeam` to choose the response. `message` is sent to the browser,
 * `cause` is not.
 * @example
 * throw new HostError('unauthenticated', 'Sign in first.');
 */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  /** HTTP status of the response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HostErrorCode, message: string, options: HostErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? statuses[code];
    this.headers = options.headers ?? {};
  }
}
