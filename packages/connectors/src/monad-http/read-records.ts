import { isAscii, isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { BodyError } from '@connector-frame/engine/connector-api';
import { RecordScanner, ScanError, type ScanProblem } from './record-scanner.js';

/**
 * Maximum number of records in a body. Each one has memory overhead beyond its bytes, and a body of
 * empty objects compresses to very little.
 */
const MAX_RECORDS = 500_000;
/** Bytes to process before yielding to the event loop. */
const SLICE = 512 * 1024;

const words: Record<ScanProblem, string> = {
  syntax: 'is not valid JSON',
  not_an_object: 'is not a JSON object; a record must be one',
  too_deep: 'is nested deeper than 100 levels',
  unfinished: 'is not finished: the body ends within it',
};

/**
 * Reads the records of a body: a JSON object, an array of objects, or concatenated objects
 * (NDJSON). Each record keeps its original text, on one line.
 *
 * @throws BodyError 400 with the line number, or 413; the whole body is then rejected
 */
export async function readRecords(body: Buffer): Promise<string[]> {
  const ascii = isAscii(body);
  if (!ascii && !isUtf8(body)) throw notUtf8(body);
  // Equivalent for ASCII, and faster to decode.
  const encoding = ascii ? 'latin1' : 'utf8';
  const scanner = new RecordScanner(body);
  const lines: string[] = [];
  try {
    for (let turned = 0; scanner.next();) {
      if (lines.length === MAX_RECORDS)
        throw new BodyError(413, 'This body holds more than 500,000 records. The request was rejected; send several.');
      const { start, end } = scanner;
      const line = body.toString(encoding, start, end);
      // A line break can only occur between tokens: JSON strings can't contain one.
      lines.push(line.includes('\n') ? line.replaceAll(/[\r\n][\t\r\n ]*/g, '') : line);
      if (end - turned < SLICE) continue;
      turned = end;
      await turn();
    }
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    throw problemAt(body, error.offset, lines.length, words[error.problem]);
  }
  return lines;
}

function problemAt(body: Buffer, offset: number, before: number, what: string): BodyError {
  const line = lineAt(body, offset);
  const record = before + 1;
  return new BodyError(400, `Line ${line} (record ${record}) ${what}. Nothing of this request was taken in.`, {
    line,
    record,
  });
}

function notUtf8(body: Buffer): BodyError {
  let start = 0;
  for (let line = 1; ; line += 1) {
    const end = body.indexOf(0x0a, start);
    if (!isUtf8(body.subarray(start, end < 0 ? undefined : end)) || end < 0)
      return new BodyError(400, `Line ${line} is not valid UTF-8. Nothing of this request was taken in.`, { line });
    start = end + 1;
  }
}

/** Returns the line number of an offset, starting at 1. */
function lineAt(body: Buffer, offset: number): number {
  let line = 1;
  for (let at = body.indexOf(0x0a); at >= 0 && at < offset; at = body.indexOf(0x0a, at + 1)) line += 1;
  return line;
}
