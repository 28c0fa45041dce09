/**
 * An error response in the format of the host's routes. The message is the demo's own, never the
 * service's.
 */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function errorResponse({ status, code, message }: HttpError): Response {
  return jsonResponse({ code, message }, status);
}

/** Returns a JSON response for the page's own scripts that must not be cached. */
export function jsonResponse(body: unknown, status = 200): Response {
  return Response.json(body, {
    status,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  });
}
