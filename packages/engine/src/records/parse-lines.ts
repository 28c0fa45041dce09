import { isRecord, type DataRecord } from './record.js';

/** The records of a batch's lines. @throws when a line is no JSON object */
export function parseLines(lines: readonly string[]): DataRecord[] {
  return lines.map((line) => {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) throw new TypeError('A line of a batch is no JSON object.');
    return value;
  });
}
