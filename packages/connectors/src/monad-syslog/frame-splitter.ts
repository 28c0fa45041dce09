/** Maximum bytes of a message; the rest is discarded. */
export const MAX_MESSAGE = 64 * 1024;

const LINE_FEED = 0x0a;

/** One message received over a stream. */
export interface Frame {
  bytes: Buffer;
  /** The message is incomplete: `bytes` is only its beginning. */
  truncated: boolean;
}

/**
 * Splits a stream into messages, framed by an octet count or by a trailing line feed; a sender may
 * switch between the two for each message (RFC 6587, RFC 5425). A number is an octet count only if
 * `<` follows it, so a line may begin with a number. Buffers at most one message.
 */
export class FrameSplitter {
  #parts: Buffer[] = [];
  #size = 0;
  /** Bytes to buffer before parsing can continue. */
  #need = 1;
  /** Parsing can only continue once a line feed arrives. */
  #inLine = false;
  /**
   * What to skip of a truncated message: the number of octets left, or `line`: up to its line feed.
   */
  #skipping: number | 'line' = 0;

  /** A message has been received partly. */
  get pending(): boolean {
    return this.#size > 0;
  }

  push(chunk: Buffer): Frame[] {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    const wait = this.#inLine ? this.#size <= MAX_MESSAGE && !chunk.includes(LINE_FEED) : this.#size < this.#need;
    if (wait) return [];
    const [only] = this.#parts;
    const data = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts, this.#size);
    const frames: Frame[] = [];
    const rest = this.#split(data, frames);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    return frames;
  }

  /** Returns the rest when the stream ends: the last line may lack its line feed. */
  end(): Frame[] {
    const data = Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    if (data.length === 0) return [];
    const head = octetCount(data, 0);
    const bytes = typeof head === 'object' ? data.subarray(head.start) : trimmed(data);
    return bytes.length === 0 ? [] : [{ bytes, truncated: typeof head === 'object' }];
  }

  #split(data: Buffer, frames: Frame[]): Buffer {
    let at = 0;
    this.#need = 1;
    this.#inLine = false;
    for (;;) {
      at = this.#skip(data, at);
      while (at < data.length && isBetween(data[at])) at += 1;
      if (at >= data.length) return data.subarray(data.length);
      const head = octetCount(data, at);
      if (head === 'unclear') {
        this.#need = data.length - at + 1;
        return data.subarray(at);
      }
      if (head === 'none') {
        const end = data.indexOf(LINE_FEED, at);
        const length = (end < 0 ? data.length : end) - at;
        if (end < 0 && length <= MAX_MESSAGE) {
          this.#inLine = true;
          return data.subarray(at);
        }
        const truncated = length > MAX_MESSAGE;
        frames.push({ bytes: trimmed(data.subarray(at, at + Math.min(length, MAX_MESSAGE))), truncated });
        if (end < 0) this.#skipping = 'line';
        at += end < 0 ? length : length + 1;
        continue;
      }
      const kept = Math.min(head.length, MAX_MESSAGE);
      if (data.length - head.start < kept) {
        this.#need = head.start - at + kept;
        return data.subarray(at);
      }
      const bytes = data.subarray(head.start, head.start + kept);
      frames.push({ bytes: trimmed(bytes), truncated: kept < head.length });
      this.#skipping = head.length - kept;
      at = head.start + kept;
    }
  }

  #skip(data: Buffer, from: number): number {
    if (this.#skipping === 'line') {
      const end = data.indexOf(LINE_FEED, from);
      if (end < 0) return data.length;
      this.#skipping = 0;
      return end + 1;
    }
    const skipped = Math.min(this.#skipping, data.length - from);
    this.#skipping -= skipped;
    return from + skipped;
  }
}

/**
 * Parses an octet count. `start` is the offset of the message; `unclear` means that more bytes are
 * needed.
 */
function octetCount(data: Buffer, from: number): { start: number; length: number } | 'none' | 'unclear' {
  let at = from;
  while (at - from < 10 && isDigit(data[at])) at += 1;
  if (at === from || data[from] === 0x30) return 'none';
  if (at >= data.length) return at - from < 10 ? 'unclear' : 'none';
  if (data[at] !== 0x20) return 'none';
  if (at + 1 >= data.length) return 'unclear';
  return data[at + 1] === 0x3c ? { start: at + 1, length: Number(data.toString('latin1', from, at)) } : 'none';
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
/** Line breaks and NUL bytes may separate messages. */
const isBetween = (byte: number | undefined): boolean => byte === LINE_FEED || byte === 0x0d || byte === 0;

/**
 * Removes the trailing line breaks and NUL bytes that many senders add, even to octet-counted
 * messages and datagrams.
 */
export function trimmed(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && isBetween(bytes[end - 1])) end -= 1;
  return bytes.subarray(0, end);
}
