import { ConnectorError, isRecord, type CreateInput, type DataRecord } from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';
import { send } from '../_shared/output/send.js';
import { statusFailure } from '../_shared/output/failures.js';
import { readPollRequest } from './request.js';

const PRODUCT = 'the server';
const MAX_RESPONSE = 16 * 1024 * 1024;
/** Records in a page. */
const PAGE = 1_000;

/**
 * Fetches an address in an interval. Each response becomes records: each object of a JSON list, one
 * JSON document per line, or the whole response. The same response makes the same records each time.
 */
export const createHttpPollInput: CreateInput = (config, { egress, clock }) => {
  const { url, init, intervalMs } = readPollRequest(config);
  return {
    kind: 'pages',
    intervalMs,
    readsAhead: true,
    async *pages(_cursor, signal) {
      const at = clock.now();
      const { method = 'GET', headers, body, timeoutMs } = init;
      const response = await send(
        egress,
        {
          url,
          method,
          ...(headers && { headers }),
          ...(body !== undefined && { body }),
          ...(timeoutMs !== undefined && { timeoutMs }),
          product: PRODUCT,
          maxBytes: MAX_RESPONSE + 1,
        },
        signal,
      );
      if (response.status < 200 || response.status > 299) throw statusFailure(response, PRODUCT, clock.now());
      if ((response.bytes?.byteLength ?? 0) > MAX_RESPONSE)
        throw new ConnectorError('unexpected_answer', 'The response is larger than 16 MiB.', 'permanent');
      const records = recordsIn(response.text);
      for (let from = 0; from < records.length; from += PAGE)
        yield { records: records.slice(from, from + PAGE), cursor: { at, from } };
      yield { records: [], cursor: { at } };
    },
  };
};

/** Returns the records of a response. */
export function recordsIn(text: string): DataRecord[] {
  const content = text.trim();
  if (content === '') return [];
  const whole = parsed(content);
  if (whole !== undefined) return (Array.isArray(whole) ? whole : [whole]).map(toRecord);
  const lines = content.split('\n').flatMap((line) => (line.trim() === '' ? [] : [parsed(line)]));
  return lines.length > 1 && !lines.includes(undefined) ? lines.map(toRecord) : [{ message: content }];
}

function toRecord(value: unknown): DataRecord {
  if (isRecord(value)) return value;
  return { message: typeof value === 'string' ? value : JSON.stringify(value) };
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
