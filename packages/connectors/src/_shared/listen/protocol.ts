/** What a sender on a connection has sent, to be stored before anything else is read. */
export interface Received {
  /** One JSON object each. */
  readonly lines: readonly string[];
  /** Bytes to send once the records are stored, such as an acknowledgment. */
  readonly reply?: Uint8Array;
}

/** One connection of a sender. */
export interface Peer {
  readonly address: string;
  readonly port: number;
  /**
   * Counts bytes that are held in memory for this connection.
   *
   * @throws ProtocolError when too much is held for all connections
   */
  hold(bytes: number): void;
  /** Bytes that were held are no longer. */
  release(): void;
}

/** A protocol over TCP. */
export interface Protocol {
  /**
   * Reads the stream of a sender. It ends when the stream does.
   *
   * @throws ProtocolError when the sender does not speak the protocol; the connection is closed
   */
  read(chunks: AsyncIterable<Buffer>, peer: Peer): AsyncIterable<Received>;
  /** Returns bytes that keep a sender waiting while its records can't be stored. */
  keepAlive?(peer: Peer): Uint8Array;
}

/** A sender does not speak the protocol. The message is for the pipeline log, without sent text. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
