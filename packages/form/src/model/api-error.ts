import type { Issue } from '@connector-frame/catalog/types';

/** A refusal of the service, as far as the form acts on it. Its sentences are the service's own and hold nothing a person typed. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    /** `error_type`. */
    readonly type: string,
    message: string,
    readonly issues: readonly Issue[],
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** The session ran out and the host page gave no other. */
export class SessionExpired extends Error {}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isIssue = (value: unknown): value is Issue =>
  isObject(value) && typeof value['path'] === 'string' && typeof value['code'] === 'string';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Reads a refusal. Anything else than the service's own shape (a proxy's page) yields no words. */
export async function readApiError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error, error_type, additional_details } = isObject(body) ? body : {};
  const { issues, hint } = isObject(additional_details) ? additional_details : {};
  const found = Array.isArray(issues) ? issues.filter(isIssue) : [];
  return new ApiError(response.status, text(error_type), text(error), found, text(hint) || undefined);
}
