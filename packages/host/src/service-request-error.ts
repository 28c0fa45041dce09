/** Maximum number of characters of a response body that an error contains. */
const excerpt = 300;

/**
 * An unsuccessful response of the service. `message` is
 * `<status> <path>: <first 300 characters of the body>`, for the server's log and not for browsers.
 */
export class ServiceRequestError extends Error {
  override readonly name = 'ServiceRequestError';
  /** HTTP status of the last response. */
  readonly status: number;
  /** Requested path, relative to the base URL. */
  readonly path: string;
  /** The response's `Retry-After` header, unparsed. */
  readonly retryAfter: string | null;

  constructor(response: Response, path: string, body: string, options?: ErrorOptions) {
    super(`${response.status} ${path}: ${body.slice(0, excerpt)}`, options);
    this.status = response.status;
    this.path = path;
    this.retryAfter = response.headers.get('retry-after');
  }
}
