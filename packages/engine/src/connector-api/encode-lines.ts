import type { Batch } from './batch.js';

/** Text around and between the lines. */
export interface Around {
  before?: string;
  /** One ASCII character. */
  between: ',' | '\n';
  after?: string;
}

/**
 * Encodes the lines of a batch as UTF-8 into one buffer. It writes line by line into a buffer of
 * known size, because joining to one long string first takes three times as long. `bytes` must be
 * exact.
 * @throws {RangeError} if `bytes` is wrong
 */
export function encodeLines(
  { lines, bytes }: Pick<Batch, 'lines' | 'bytes'>,
  { before = '', between, after = '' }: Around,
): Buffer {
  const ends = Buffer.byteLength(before) + Buffer.byteLength(after);
  const size = ends + bytes + Math.max(0, lines.length - 1);
  // `Buffer.write` truncates silently at the end. With space for one more character (4 bytes), an
  // excess is detected.
  const all = Buffer.allocUnsafe(size + 4);
  // Produces the same bytes for ASCII and is faster.
  const encoding = lines.reduce((sum, line) => sum + line.length, 0) === bytes ? 'latin1' : 'utf8';
  const separator = between.charCodeAt(0);
  let at = all.write(before);
  for (const [index, line] of lines.entries()) {
    if (index > 0) all[at++] = separator;
    at += all.write(line, at, encoding);
  }
  at += all.write(after, at);
  if (at !== size) throw new RangeError(`A batch that says ${bytes} bytes has others.`);
  return all.subarray(0, size);
}
