/** Reads a request of Kafka's protocol value by value. */
export class Reader {
  #at = 0;
  constructor(private readonly source: Buffer) {}

  #take(size: number): Buffer {
    this.#at += size;
    return this.source.subarray(this.#at - size, this.#at);
  }
  int16 = (): number => this.#take(2).readInt16BE();
  int32 = (): number => this.#take(4).readInt32BE();
  int64 = (): bigint => this.#take(8).readBigInt64BE();
  text(): string | undefined {
    const length = this.int16();
    return length < 0 ? undefined : this.#take(length).toString();
  }
  bytes(): Buffer {
    return Buffer.from(this.#take(Math.max(0, this.int32())));
  }
  list<T>(read: () => T): T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, read);
  }
}

/** Writes a response of Kafka's protocol value by value. */
export class Writer {
  readonly #parts: Buffer[] = [];

  #put(size: number, write: (into: Buffer) => void): this {
    const part = Buffer.alloc(size);
    write(part);
    this.#parts.push(part);
    return this;
  }
  int8 = (value: number): this => this.#put(1, (part) => part.writeInt8(value));
  int16 = (value: number): this => this.#put(2, (part) => part.writeInt16BE(value));
  int32 = (value: number): this => this.#put(4, (part) => part.writeInt32BE(value));
  int64 = (value: bigint): this => this.#put(8, (part) => part.writeBigInt64BE(value));
  text(value: string | null): this {
    if (value === null) return this.int16(-1);
    this.int16(Buffer.byteLength(value));
    this.#parts.push(Buffer.from(value));
    return this;
  }
  bytes(value: Buffer): this {
    this.int32(value.length);
    this.#parts.push(value);
    return this;
  }
  list<T>(values: readonly T[], write: (value: T) => unknown): this {
    this.int32(values.length);
    for (const value of values) write(value);
    return this;
  }
  frame(): Buffer {
    const body = Buffer.concat(this.#parts);
    const size = Buffer.alloc(4);
    size.writeInt32BE(body.length);
    return Buffer.concat([size, body]);
  }
}
