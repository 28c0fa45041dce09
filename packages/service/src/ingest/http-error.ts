import type { ErrorType } from '../api-error.js';

/**
 * Error that rejects a request. The sender receives its message, which contains no part of the
 * request.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly status: number,
    readonly type: ErrorType,
    message: string,
    readonly options: { headers?: Record<string, string>; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message);
  }
}

/** Creates an error that asks the sender to retry the whole request after this many seconds. */
export const later = (status: 429 | 503, type: ErrorType, message: string, seconds: number): HttpError =>
  new HttpError(status, type, message, { headers: { 'Retry-After': String(seconds) } });

/** Creates the error for a connector that can't be looked up because the database is away. */
export const databaseAway = (): HttpError =>
  later(503, 'unavailable', 'The database does not respond. Retry the whole request later.', 5);
