import { isRecord, type DataRecord } from './record.js';

/**
 * Parses the lines of a batch.
 * @throws if a line is not a JSON object
 */
export function parseLines(lines: readonly string[]): DataRecord[] {
  return lines.map((line) => {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) throw new TypeError('A line of a batch is no JSON object.');
    return value;
  });
}
