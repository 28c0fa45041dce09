import type { HostRouteError } from '@connector-frame/core/connect';

/** Error codes in responses to the page. Stable. */
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
  /** HTTP status, if it differs from the code's default: 405, 413, 415. */
  status?: number;
  /** Response headers: `allow`, `retry-after`. */
  headers?: Record<string, string>;
  /** The resource that was not found, if the browser must tell it apart. */
  resource?: HostRouteError['resource'];
}

/**
 * An error that is sent to the browser as `{ code, message }`. Throw one from `authorizeTenant` or
 * `authorizeTeam` to choose the response. `message` reaches the browser; `cause` does not.
 *
 * @example
 * ```ts
 * throw new HostError('unauthenticated', 'Sign in first.');
 * ```
 */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  /** HTTP status of the response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: HostRouteError['resource'];

  constructor(code: HostErrorCode, message: string, options: HostErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? statuses[code];
    this.headers = options.headers ?? {};
    this.resource = options.resource;
  }
}
