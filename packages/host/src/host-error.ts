import type { HostRouteError } from '@connector-frame/core/connect';

/** Words of the wire between page and host. Stable: a page may branch on them. */
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
  /** A finer HTTP status than the code's own: 405, 413, 415. */
  status?: number;
  /** Response headers that belong to the refusal: `allow`, `retry-after`. */
  headers?: Record<string, string>;
}

/**
 * A refusal as the browser sees it: `{ code, message }` and a status. Throw one from `authorizeTenant` or
 * `authorizeTeam` to choose the answer, for example `new HostError('unauthenticated', 'Sign in first.')`.
 * `message` reaches the browser; `cause` does not.
 */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HostErrorCode, message: string, options: HostErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? statuses[code];
    this.headers = options.headers ?? {};
  }
}
