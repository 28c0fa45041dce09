import type { Issue } from '@connector-frame/catalog/types';

/** A refusal of the service, as far as the form acts on it. Its sentences are the service's own and hold nothing a person typed. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** `error_type`. */
    readonly type = '',
    message = '',
    readonly issues: readonly Issue[] = [],
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** The session ran out and the host page gave no other. */
export class SessionExpired extends Error {}

interface Refusal {
  error?: string;
  error_type?: string;
  additional_details?: { issues?: Issue[]; hint?: string };
}

/** Reads a refusal. Anything else than the service's own shape (a proxy's page) yields no words. */
export async function readApiError(response: Response): Promise<ApiError> {
  const { error, error_type, additional_details: details }: Refusal = await response.json().catch(() => ({}));
  return new ApiError(response.status, error_type, error, details?.issues, details?.hint);
}
