/** The type-specific part of handling an HTTP request to a push input. */
export interface Receiver {
  /** Maximum size of the decompressed body, in bytes. */
  maxBytes: number;
  /** Path relative to the connector's URL: `''`, or `/v1/logs`. */
  path: '' | `/${string}`;
  /**
   * Parses the records in a body, each as one JSON object on one line.
   *
   * @param body already decompressed
   * @param contentType the `Content-Type` header, unchanged
   * @throws BodyError
   */
  read(body: Buffer, contentType: string | undefined): Promise<readonly string[]>;
  /**
   * Builds the response once the records are stored.
   *
   * @param count number of records in the body
   * @param tooLarge indexes of records that were not accepted because they exceed the batch limit
   */
  accepted(count: number, tooLarge: readonly number[], contentType: string | undefined): ReceiverResponse;
  /** Builds the body of an error response. Absent: the API's own error format is used. */
  rejected?(message: string, contentType: string | undefined): ReceiverResponse;
}

export interface ReceiverResponse {
  contentType: string;
  body: string | Uint8Array;
}

/**
 * A body that can't be read: 400 if it is malformed, 413 if it holds too much, 415 if its content
 * type is not supported. The message never quotes the body.
 */
export class BodyError extends Error {
  readonly status: 400 | 413 | 415;
  readonly details: Readonly<Record<string, number>>;
  override readonly name = 'BodyError';
  constructor(status: 400 | 413 | 415, message: string, details: Readonly<Record<string, number>> = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}
