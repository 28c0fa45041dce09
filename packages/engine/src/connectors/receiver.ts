/** A request to the address of a pushed input, as far as its type has a say in it. */
export interface Receiver {
  /** Bytes of an unpacked body. */
  maxBytes: number;
  /** Below the connector's own address: `''`, or `/v1/logs`. */
  path: '' | `/${string}`;
  /**
   * The records of a body that was unpacked already, each as the JSON of one object on one line.
   * @param contentType as it came @throws BodyError
   */
  read(body: Buffer, contentType: string | undefined): Promise<readonly string[]>;
  /** The answer once all of them are stored, but those at `tooLarge`, which no batch can take. */
  accepted(count: number, tooLarge: readonly number[], contentType: string | undefined): ReceiverAnswer;
  /** The answer to what was not taken in. Absent: as the API says it. */
  refused?(message: string, contentType: string | undefined): ReceiverAnswer;
}

export interface ReceiverAnswer {
  contentType: string;
  body: string | Uint8Array;
}

/** A body that can't be read: 400, 413 when there is too much in it, 415 when it is of another kind. Our own words, nothing of the body in them. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  constructor(
    readonly status: 400 | 413 | 415,
    message: string,
    readonly details: Readonly<Record<string, number>> = {},
  ) {
    super(message);
  }
}
