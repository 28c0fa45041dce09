import type { Batch } from './batch.js';

/** What stands around the lines, as text. */
export interface Around {
  before?: string;
  /** One ASCII character. */
  between: ',' | '\n';
  after?: string;
}

/**
 * The lines of a batch as UTF-8 in one piece. Line by line into bytes whose number is known: one long text in between
 * takes three times as long. `bytes` must be exact.
 */
export function encodeLines(
  { lines, bytes }: Pick<Batch, 'lines' | 'bytes'>,
  { before = '', between, after = '' }: Around,
): Buffer {
  const ends = Buffer.byteLength(before) + Buffer.byteLength(after);
  const size = ends + bytes + Math.max(0, lines.length - 1);
  // Writing ends without a word where there is no room: with room for one character more, too much shows.
  const all = Buffer.allocUnsafe(size + 4);
  // The same bytes, and faster to write.
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
