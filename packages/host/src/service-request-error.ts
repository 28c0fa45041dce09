/** Characters of the answer's body that an error repeats. */
const excerpt = 300;

/**
 * The service did not answer with a success. `message` is `<status> <path>: <first 300 characters of the body>`:
 * for the server's log, not for a browser.
 */
export class ServiceRequestError extends Error {
  override readonly name = 'ServiceRequestError';
  /** HTTP status of the last answer. */
  readonly status: number;
  /** Path as it was asked for, relative to the base address. */
  readonly path: string;
  /** The answer's `Retry-After`, as it came. */
  readonly retryAfter: string | null;

  constructor(response: Response, path: string, body: string, options?: ErrorOptions) {
    super(`${response.status} ${path}: ${body.slice(0, excerpt)}`, options);
    this.status = response.status;
    this.path = path;
    this.retryAfter = response.headers.get('retry-after');
  }
}
