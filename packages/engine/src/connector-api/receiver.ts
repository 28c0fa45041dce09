import type { IncomingHttpHeaders } from 'node:http';

/**
 * The type-specific part of handling an HTTP request to a push input whose senders present the
 * connector's own token.
 */
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

/** A request to a push input, without its body. */
export interface RequestHead {
  readonly method: string;
  /** Path relative to the connector's URL, without a trailing slash: `''`, `/services/collector`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** The records of a request. */
export interface RequestRecords {
  /** One JSON object each, without line breaks. */
  readonly lines: readonly string[];
  /** Id of the request at its sender: a repetition is dropped. */
  readonly position?: string;
  /** Response to a request that brings no records, although it has a body. Nothing is stored. */
  readonly response?: RequestResponse;
}

export interface RequestResponse extends ReceiverResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Handles the HTTP requests to one connector whose senders are recognized by its configuration: a
 * signature, a shared secret. Created from that configuration, and kept until it changes.
 */
export interface RequestReceiver {
  /** Maximum size of the decompressed body, in bytes. */
  readonly maxBytes: number;
  /**
   * Checks a request before its body is read.
   *
   * @returns the response to a request that brings no records, such as a verification of the
   *   address; otherwise `undefined`
   * @throws RequestError when the sender is not allowed, as far as that shows without the body
   */
  begin(head: RequestHead): RequestResponse | undefined;
  /**
   * Checks the signature of a body, and parses its records.
   *
   * @param body already decompressed
   * @throws RequestError, BodyError
   */
  read(body: Buffer, head: RequestHead): Promise<RequestRecords>;
  /**
   * Builds the response once the records are stored.
   *
   * @param count number of records in the body
   * @param tooLarge indexes of records that were not accepted because they exceed the batch limit
   */
  accepted(count: number, tooLarge: readonly number[], head: RequestHead): RequestResponse;
  /**
   * Builds the response for a rejected request. Absent: the API's own error format is used.
   *
   * @param status as the service would respond; the response may have another one
   */
  rejected?(status: number, message: string, head: RequestHead): RequestResponse;
}

export type RequestStatus = 400 | 401 | 403 | 404 | 405 | 413 | 415 | 503;

/** A request that is rejected. The message never quotes the request. */
export class RequestError extends Error {
  readonly status: RequestStatus;
  override readonly name = 'RequestError';
  constructor(status: RequestStatus, message: string) {
    super(message);
    this.status = status;
  }
}
