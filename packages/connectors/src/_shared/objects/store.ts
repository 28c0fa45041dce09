import type { ConnectorError } from '@connector-frame/engine/connector-api';
import type { Subject } from '../connection-test/failures.js';

/** An object in a listing. */
export interface Listed {
  key: string;
  /** Identifies the content: without quotes. */
  etag: string;
  /**
   * When the object was written, in milliseconds since the epoch. For a multipart upload of S3, when
   * it started.
   */
  time: number;
  size: number;
  /** The object is appended to: bytes that it has do not change, apart from an end of its format. */
  grows?: true;
}

export interface ListedPage {
  objects: readonly Listed[];
  /** The storage's time, in milliseconds since the epoch. */
  at: number;
}

export interface Listing {
  prefix: string;
  /** Lists only keys after this one. Only for a storage with `startsAfter`. */
  startAfter?: string;
  signal: AbortSignal;
}

/** Objects that can be listed and read, by their keys. */
export interface ObjectSource {
  /** The storage as named in messages. */
  readonly subject: Subject;
  /** Whether a listing can begin after a key. */
  readonly startsAfter: boolean;
  /**
   * Lists all objects under a prefix.
   * @throws ConnectorError
   */
  list(listing: Listing): AsyncIterable<ListedPage>;
  /**
   * Requests the bytes of an object from an offset on.
   * @returns a response with the status 200, with all bytes, or 206, with `Content-Range`; of an
   *   object that grows, not more than its size in the listing
   * @throws ObjectError, ConnectorError
   */
  open(object: Listed, offset: number, signal: AbortSignal): Promise<Response>;
}

/** Objects by their keys: a bucket or a container. */
export interface ObjectStore extends ObjectSource {
  /**
   * Checks that the storage can be reached, before the first write.
   * @throws ConnectorError
   */
  check(signal: AbortSignal): Promise<void>;
  /**
   * Writes an object. Replaces one with the same key.
   * @throws ConnectorError
   */
  put(key: string, content: ObjectContent, signal: AbortSignal): Promise<void>;
}

export interface ObjectContent {
  body: Uint8Array;
  contentType: string;
}

/**
 * Why an object can't be read: it was deleted (`gone`) or `replaced` since the listing, or the storage
 * does not return it.
 */
export type ObjectFault = 'gone' | 'replaced' | 'archived' | 'denied' | 'unaddressable';

export class ObjectError extends Error {
  override readonly name = 'ObjectError';
  readonly fault: ObjectFault;
  /** The same failure for the whole input, if it may affect more than this object. */
  readonly asFailure: ConnectorError | undefined;

  constructor(fault: ObjectFault, asFailure?: ConnectorError) {
    super(fault);
    this.fault = fault;
    this.asFailure = asFailure;
  }
}

/** Milliseconds until the storage responds, and between two parts of the body. */
export const READ_TIMEOUT_MS = 30_000;
/** Milliseconds until an object is written. */
export const WRITE_TIMEOUT_MS = 120_000;
/** Milliseconds until a page of a listing is complete. */
export const LIST_TIMEOUT_MS = 60_000;
/** Maximum bytes of a page of a listing: 5,000 keys of 1,000 bytes each, with their markup. */
export const MAX_LISTING = 16 * 1024 * 1024;
