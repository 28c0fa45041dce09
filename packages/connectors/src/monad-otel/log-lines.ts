import { setImmediate as turn } from 'node:timers/promises';
import { BodyError, type DataRecord } from '@connector-frame/engine/connector-api';
import type { Log } from './log-fields.js';

/**
 * Maximum total characters of a request's records. Each record repeats its resource and scope, so a
 * small request can expand to a very large one.
 */
const MAX_TEXT = 64 * 1024 * 1024;
const MAX_RECORDS = 100_000;
/** Records to convert before yielding to the event loop. */
const SLICE = 1_000;

/**
 * Converts each log record to one line of JSON, including its resource and scope.
 *
 * @throws BodyError 413 if the request exceeds a limit
 */
export async function logLines(logs: Iterable<Log>): Promise<string[]> {
  const resourceText = lastText('resource');
  const scopeText = lastText('scope');
  const lines: string[] = [];
  let characters = 0;
  for (const { fields, resource, scope } of logs) {
    const parts = [JSON.stringify(fields).slice(1, -1), resourceText(resource), scopeText(scope)];
    const line = `{${parts.filter((part) => part !== '').join(',')}}`;
    lines.push(line);
    characters += line.length;
    if (characters > MAX_TEXT || lines.length > MAX_RECORDS)
      throw new BodyError(
        413,
        'This request holds more than 100,000 log records, or more than 64 MiB of them. Send fewer.',
      );
    if (lines.length % SLICE === 0) await turn();
  }
  return lines;
}

/** Serializes to `"name":{...}` and caches the text for consecutive records with the same value. */
function lastText(name: string): (value: DataRecord | undefined) => string {
  let last: DataRecord | undefined;
  let text = '';
  return (value) => {
    if (value !== last) {
      last = value;
      text = value ? `${JSON.stringify(name)}:${JSON.stringify(value)}` : '';
    }
    return text;
  };
}
