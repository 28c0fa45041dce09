/** Number of characters of the response body in the message. */
const excerpt = 300;

/**
 * The service responded with an error. `message` is
 * `<status> <path>: <first 300 characters of the body>`: for the server's log, not for a browser.
 */
export class ServiceRequestError extends Error {
  override readonly name = 'ServiceRequestError';
  /** HTTP status of the last response. */
  readonly status: number;
  /** Requested path, relative to the base URL. */
  readonly path: string;
  /** The `Retry-After` header of the response, unchanged. */
  readonly retryAfter: string | null;

  constructor(response: Response, path: string, body: string, options?: ErrorOptions) {
    super(`${response.status} ${path}: ${body.slice(0, excerpt)}`, options);
    this.status = response.status;
    this.path = path;
    this.retryAfter = response.headers.get('retry-after');
  }
}
