import type { Issue } from '@connector-frame/catalog/types';

/**
 * An error response of the service, with the fields that the form uses. Its messages come from the
 * service and contain no user input.
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** `error_type` of the response body. */
    readonly type = '',
    message = '',
    readonly issues: readonly Issue[] = [],
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** Thrown when the session expired and the host page provided no new one. */
export class SessionExpired extends Error {}

interface Refusal {
  error?: string;
  error_type?: string;
  additional_details?: { issues?: Issue[]; hint?: string };
}

/**
 * Parses an error response. A body in any other shape, such as a proxy's error page, yields an
 * error without a message.
 */
export async function readApiError(response: Response): Promise<ApiError> {
  const { error, error_type, additional_details: details }: Refusal = await response.json().catch(() => ({}));
  return new ApiError(response.status, error_type, error, details?.issues, details?.hint);
}
