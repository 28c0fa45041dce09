import type { Issue } from '@connector-frame/catalog/types';

/**
 * An error response of the service, with the fields that the form uses. Its messages come from the
 * service and contain no user input.
 */
export class ApiError extends Error {
  readonly status: number;
  /** `error_type` of the response body. */
  readonly type: string;
  readonly details: ErrorDetails;

  constructor(status: number, type = '', message = '', details: ErrorDetails = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.details = details;
  }
}

/** Thrown when the session expired and the host page has provided no new one yet. */
export class SessionExpired extends Error {}

interface ErrorDetails {
  issues?: readonly Issue[];
  /** What to do next. */
  hint?: string;
  /** Scope of the rate limit that was exceeded. */
  limit?: string;
}

interface ErrorBody {
  error?: string;
  error_type?: string;
  additional_details?: ErrorDetails;
}

/**
 * Parses an error response. A body in any other shape, such as a proxy's error page, yields an
 * error without a message.
 */
export async function readApiError(response: Response): Promise<ApiError> {
  const { error, error_type, additional_details: details }: ErrorBody = await response.json().catch(() => ({}));
  return new ApiError(response.status, error_type, error, details);
}
