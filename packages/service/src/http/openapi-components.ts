import { z, type OpenAPIHono } from '@hono/zod-openapi';
import { errorTypes, type ErrorType } from '../api-error.js';

type Registry = OpenAPIHono['openAPIRegistry'];

/** Body of every error response. */
const ErrorBody = z
  .object({
    error: z.string().openapi({ description: 'Human-readable message. It may change between releases.' }),
    error_type: z.enum(errorTypes).openapi({ description: 'Stable error code.' }),
    code: z.int().openapi({ description: 'The HTTP status.' }),
    additional_details: z
      .record(z.string(), z.unknown())
      .optional()
      .openapi({ description: 'Depends on `error_type`, such as `issues` with the invalid fields.' }),
  })
  .openapi('Error');

/** Response headers, by name. */
const headers: Readonly<Record<string, { description: string; type?: 'integer'; example: unknown; always?: true }>> = {
  'Request-Id': {
    description: "ID of this request. It is in the service's log and in the audit log.",
    example: '5f0c1f0e-8d5b-4c51-9a3e-2f6f6f0b7a09',
    always: true,
  },
  RateLimit: {
    description: 'Requests left in the current window (`r`) and seconds until it ends (`t`). Absent without limits.',
    example: '"key";r=1199;t=60',
  },
  'RateLimit-Policy': {
    description: 'Requests (`q`) per window of `w` seconds. Absent without limits.',
    example: '"key";q=1200;w=60',
  },
  'Retry-After': { description: 'Seconds to wait before a retry.', type: 'integer', example: 5 },
  ETag: { description: 'Version of the resource, for `If-Match` and `If-None-Match`.', example: '"v3"' },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    example: 'true',
  },
  Location: { description: 'Address at which to continue.', example: 'https://connect.example/login' },
  'WWW-Authenticate': { description: 'The accepted authentication schemes.', example: 'ApiKey, Bearer', always: true },
};

/** Request headers, by the name of their component. */
const requestHeaders = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    description:
      'Unique per operation. For 24 hours, a repeated request with the same key and body returns the stored response.',
    example: '7c0e2a56-2f0b-4b0c-9a52-6d3a1a6f1c11',
  },
  IfMatch: {
    name: 'If-Match',
    schema: { type: 'string' },
    description: 'ETag of the last read. Returns 412 if the resource has changed since.',
    example: '"v3"',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    schema: { type: 'string' },
    description: 'ETag of the last read. Returns 304 if the resource has not changed since.',
    example: '"v3"',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    schema: { type: 'string' },
    description: 'ID of the last event that was received. The stream resumes after it.',
    example: '1042',
  },
} as const;

export type RequestHeader = keyof typeof requestHeaders;

interface ErrorResponse {
  description: string;
  /** Headers besides those of every response. */
  headers: readonly string[];
  examples: Partial<Record<ErrorType, string>>;
  details?: Record<string, unknown>;
}

const limited = ['RateLimit', 'RateLimit-Policy'] as const;

/** Error responses, by the name of their component. */
const errors: Readonly<Record<string, ErrorResponse & { status: number }>> = {
  BadRequest: {
    status: 400,
    description:
      'The request is malformed, is not UTF-8, has an invalid parameter, or contains a field or a query parameter that this operation does not know.',
    headers: limited,
    examples: { invalid_request: 'The query of this request is not valid.' },
    details: { issues: [{ path: '/limit', message: 'Too big: expected number to be <=1000' }] },
  },
  Unauthorized: {
    status: 401,
    description: 'The credential is missing, unknown, revoked or expired.',
    headers: ['WWW-Authenticate'],
    examples: {
      unauthenticated: 'The API key is not valid.',
      invalid_token: 'The session token is not valid.',
      token_expired: 'The session has expired. Create a new one.',
    },
  },
  Forbidden: {
    status: 403,
    description: 'The credential lacks a permission, or the request comes from a page that may not make it.',
    headers: limited,
    examples: {
      forbidden: 'This API key lacks the permission input:write.',
      origin_not_allowed: 'Only the form may call this API from a browser.',
    },
  },
  NotFound: {
    status: 404,
    description: 'It does not exist, or belongs to another organization.',
    headers: limited,
    examples: { not_found: 'Not found. Check the path and the ids in it.' },
  },
  Conflict: {
    status: 409,
    description: 'The present state does not allow it.',
    headers: [...limited, 'Retry-After'],
    examples: { conflict: 'Pipelines still use this output. Delete them first.' },
  },
  IdempotencyConflict: {
    status: 409,
    description: 'The first request with this `Idempotency-Key` is still running.',
    headers: [...limited, 'Retry-After'],
    examples: { idempotency_conflict: 'The first request with this Idempotency-Key is still running.' },
  },
  PreconditionFailed: {
    status: 412,
    description: 'The resource has changed: `If-Match` does not list its ETag.',
    headers: [...limited, 'ETag'],
    examples: { precondition_failed: 'The resource has changed since it was read. Read it again and retry.' },
  },
  PayloadTooLarge: {
    status: 413,
    description: 'The body is larger than 256 KiB.',
    headers: limited,
    examples: { payload_too_large: 'The body is larger than 256 KiB.' },
  },
  UnsupportedMediaType: {
    status: 415,
    description: 'The body has another content type than this operation takes, or a Content-Encoding.',
    headers: limited,
    examples: { unsupported_media_type: 'Send JSON, with Content-Type: application/json.' },
  },
  Unprocessable: {
    status: 422,
    description: 'The request is well-formed, but its values do not work together.',
    headers: limited,
    examples: {
      secret_reentry_required: 'The destination or the security of the connection changed: enter the secrets again.',
    },
    details: { issues: [{ path: '/secrets/api_key', code: 'required' }] },
  },
  IdempotencyMismatch: {
    status: 422,
    description: 'The `Idempotency-Key` was used for another request.',
    headers: limited,
    examples: { idempotency_mismatch: 'This Idempotency-Key was used for another request. Use a new key.' },
  },
  TooManyRequests: {
    status: 429,
    description: 'Too many requests. Retry after the number of seconds in `Retry-After`.',
    headers: [...limited, 'Retry-After'],
    examples: { rate_limited: 'Too many requests. Retry in 12 seconds.' },
    details: { limit: 'key' },
  },
  InternalError: {
    status: 500,
    description: 'An error of the service. Report the `Request-Id` to its operator.',
    headers: limited,
    examples: { internal_error: 'Internal error.' },
    details: { request_id: '5f0c1f0e-8d5b-4c51-9a3e-2f6f6f0b7a09' },
  },
  Unavailable: {
    status: 503,
    description: 'The database does not respond. Retry after the number of seconds in `Retry-After`.',
    headers: [...limited, 'Retry-After'],
    examples: { unavailable: 'The database does not respond. Retry later.' },
    details: { checks: { database: 'no response' } },
  },
};

/** Causes of 409 and 422 that only requests with an `Idempotency-Key` have. */
const idempotencyErrors: Readonly<Record<number, string>> = { 409: 'IdempotencyConflict', 422: 'IdempotencyMismatch' };

/** An error response of one operation. */
export interface DocumentedError {
  status: number;
  /** The cause in this operation. Default: that of the component. */
  cause?: string | undefined;
  /** Whether the handler causes it. Otherwise, it is implied by a property of the route. */
  isOwn: boolean;
}

/**
 * Returns a reference to the component of an error, with the causes in this operation.
 * @param idempotent whether the operation accepts an `Idempotency-Key`
 * @throws TypeError for a status that no error of the service has
 */
export function errorResponse({ status, cause, isOwn }: DocumentedError, idempotent = false) {
  const viaKey = idempotent ? idempotencyErrors[status] : undefined;
  const name = !isOwn && viaKey !== undefined ? viaKey : nameOf(status);
  const $ref = `#/components/responses/${name}`;
  if (isOwn && viaKey !== undefined)
    return { $ref, description: `${cause ?? errors[name]?.description} Or: ${errors[viaKey]?.description}` };
  return { $ref, ...(cause !== undefined && { description: cause }) };
}

/**
 * Returns the description of an error that a person reads on a page.
 * @param orJson whether programs get it as JSON
 */
export function errorPage({ status, cause }: DocumentedError, orJson = false) {
  const { description = '', headers: own = [] } = Object.values(errors).find((each) => each.status === status) ?? {};
  return {
    description: cause ?? description,
    headers: headerRefs(['Request-Id', ...own.filter((name) => !limited.some((each) => each === name))]),
    content: {
      'text/html': { schema: { type: 'string' as const }, example: PAGE },
      ...(orJson && { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }),
    },
  };
}

/** An example of a page. */
export const PAGE = '<!doctype html><html lang="en"><head><title>Sign in</title></head><body>…</body></html>';

function nameOf(status: number): string {
  const name = Object.keys(errors).find((each) => errors[each]?.status === status);
  if (name === undefined) throw new TypeError(`The status ${status} is not described in openapi-components.ts.`);
  return name;
}

/** Returns references to documented response headers. */
export const headerRefs = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Returns references to documented request headers. */
export const requestHeaderRefs = (names: readonly RequestHeader[]) =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));

/** Headers of each response to an authenticated request. */
export const commonHeaders = ['Request-Id', ...limited] as const;

/** Registers the headers and error responses that operations refer to, and the ways to authenticate. */
export function registerComponents(registry: Registry): void {
  for (const [name, { description, type = 'string', example, always }] of Object.entries(headers))
    registry.registerComponent('headers', name, {
      description,
      ...(always && { required: true }),
      schema: { type },
      example,
    });
  for (const [name, header] of Object.entries(requestHeaders))
    registry.registerComponent('parameters', name, { in: 'header', ...header });
  registry.register('Error', ErrorBody);
  for (const [name, { status, description, headers: own, examples, details }] of Object.entries(errors))
    registry.registerComponent('responses', name, {
      description,
      headers: headerRefs(['Request-Id', ...own]),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(
            Object.entries(examples).map(([type, error]) => [
              type,
              { value: { error, error_type: type, code: status, ...(details && { additional_details: details }) } },
            ]),
          ),
        },
      },
    });
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'An API key. It belongs on a backend: requests with it are rejected from browsers.',
  });
  registry.registerComponent('securitySchemes', 'authorization', {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An API key as `ApiKey <key>`.',
  });
  registry.registerComponent('securitySchemes', 'user', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Access token of a signed-in user. `GET /v1/login` begins to sign in.',
  });
  registry.registerComponent('securitySchemes', 'session', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Session token of a frame. `x-session` of each operation says whether it is accepted.',
  });
}
