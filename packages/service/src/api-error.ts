import type { ContentfulStatusCode } from 'hono/utils/http-status';

/**
 * Stable, machine-readable values of `error_type`. The README lists their meanings and remedies.
 */
export const errorTypes = [
  'invalid_request',
  'invalid_config',
  'invalid_pipeline',
  'invalid_transform',
  'secret_reentry_required',
  'secret_destination_mismatch',
  'secret_not_allowed',
  'secret_unreadable',
  'consent_expired',
  'test_failed',
  'no_test',
  'egress_refused',
  'unauthenticated',
  'invalid_credentials',
  'otp_required',
  'sign_in_failed',
  'invalid_token',
  'token_expired',
  'forbidden',
  'origin_not_allowed',
  'not_found',
  'method_not_allowed',
  'conflict',
  'no_pipeline',
  'no_port',
  'idempotency_conflict',
  'idempotency_mismatch',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'buffer_full',
  'quota_exceeded',
  'suspended',
  'internal_error',
  'unavailable',
] as const;

export type ErrorType = (typeof errorTypes)[number];

export interface ApiErrorOptions {
  details?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/**
 * An error response: `{ error, error_type, code, additional_details? }`. The message is written by
 * the service and never contains a value that a person entered.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: ContentfulStatusCode,
    readonly type: ErrorType,
    message: string,
    readonly options: ApiErrorOptions = {},
  ) {
    super(message);
  }

  /** Returns the body of the response. */
  toJSON(): { error: string; error_type: ErrorType; code: number; additional_details?: Record<string, unknown> } {
    return {
      error: this.message,
      error_type: this.type,
      code: this.status,
      ...(this.options.details ? { additional_details: this.options.details } : {}),
    };
  }
}

/**
 * Creates the same error for a missing resource and for one of another organization, so that a
 * caller cannot tell them apart.
 */
export const notFound = (): ApiError => new ApiError(404, 'not_found', 'Not found. Check the path and the ids in it.');

export const methodNotAllowed = (allowed: readonly string[]): ApiError =>
  new ApiError(405, 'method_not_allowed', `Use one of these methods: ${allowed.join(', ')}.`, {
    headers: { Allow: allowed.join(', ') },
  });

export const forbidden = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError(403, 'forbidden', message, details ? { details } : {});

export const invalidRequest = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError(400, 'invalid_request', message, details ? { details } : {});

/** Creates the error for a database that can't be reached or can't serve requests. */
export const databaseUnavailable = (): ApiError =>
  new ApiError(503, 'unavailable', 'The database does not respond. Retry later.', {
    headers: { 'Retry-After': '5' },
    details: { checks: { database: 'no response' } },
  });
