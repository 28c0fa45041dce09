import type { Batching, ConnectorContext, Output } from '@connector-frame/engine/connector-api';
import { splitBySize, writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { send, type HttpResponse } from '../_shared/output/send.js';
import { FILTER, itemsOf, outcomeOf, requiresTimestamp } from './bulk-items.js';

/**
 * Maximum bytes of a request. The lowest known server limit is 10 MiB, on small Amazon instances. A
 * typical batch is smaller.
 */
const MAX_BYTES = 5_000_000;
/**
 * Records per request. Elastic recommends trying 1,000 to 5,000 with bulk bodies of a few megabytes;
 * the response that rejects them all must stay small.
 * https://www.elastic.co/docs/deploy-manage/production-guidance/optimize-performance/indexing-speed
 */
const BATCHING: Batching = { records: 500, bytes: 4_000_000, waitMs: 1_000, waitFrom: 'write' };
/** Maximum bytes of a response. Fits one that rejects 500 documents with long reasons. */
const MAX_RESPONSE = 4_000_000;

export interface Cluster {
  /** Product name as used in messages. */
  product: string;
  /** Base URL without a trailing slash. */
  base: string;
  index: string;
  /** Absent: the index is the only credential. */
  authorization?: string;
  /** Default `create`, the only one that works for data streams as well. */
  action?: 'create' | 'index';
  verifyTls: boolean;
  ca?: string;
  /**
   * Path of a request that identifies the user. `open` accepts any response but 401, 429 and 5xx.
   */
  probe: string;
}

/**
 * Creates documents with `_bulk`, which reports the result of each one. The document ID is the
 * record ID, so repeated records are not duplicated.
 * https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk
 */
export function createBulkOutput(cluster: Cluster, { egress, clock }: ConnectorContext): Output {
  const { product, base, index, authorization, action: verb = 'create', verifyTls, ca } = cluster;
  const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) };
  const init = { verifyTls, product, ...(ca !== undefined && { ca }) };
  const action = (id: string): string => JSON.stringify({ [verb]: { _index: index, _id: id } });
  /** Whether a data stream has rejected a document without `@timestamp`. */
  let timestamps = false;

  function bulk(documents: readonly { id: string; line: string }[], signal: AbortSignal): Promise<HttpResponse> {
    const body = documents.map(({ id, line }) => `${action(id)}\n${line}\n`).join('');
    const type = { 'content-type': 'application/x-ndjson' };
    const url = `${base}/_bulk?filter_path=${FILTER}`;
    return send(egress, { ...init, url, headers: { ...headers, ...type }, body, maxBytes: MAX_RESPONSE }, signal);
  }

  return {
    batching: BATCHING,
    ordering: 'none',
    async open(signal) {
      const response = await send(egress, { ...init, url: `${base}${cluster.probe}`, method: 'GET', headers }, signal);
      // A 400, 403, 404 or 405 shows that the cluster responds, but nothing about write access.
      if (response.status === 401 || response.status === 429 || response.status >= 500)
        throw statusFailure(response, product, clock.now());
    },
    write: (batch, signal) => {
      const parts = splitBySize(
        batch.lines.map((line) => Buffer.byteLength(line) + index.length + 100),
        Infinity,
        MAX_BYTES,
      );
      return writeParts(parts, async function writePart(indexes): Promise<PartResult> {
        const documents = indexes.map((at) => {
          const line = batch.lines[at] ?? '{}';
          return { id: batch.recordId(at), line: timestamps ? withTimestamp(line, clock.now()) : line };
        });
        const response = await bulk(documents, signal);
        if (response.status === 413)
          return { partRejection: `${product} does not accept a record of this size (HTTP 413).` };
        if (response.status !== 200) throw statusFailure(response, product, clock.now());
        const items = itemsOf(parse(response.text, product), indexes.length, product, verb);
        if (!timestamps && items.some(requiresTimestamp)) {
          timestamps = true;
          // Documents that the first request created return 409 now, which counts as written.
          return writePart(indexes);
        }
        return outcomeOf(items, indexes, product);
      });
    },
  };
}

/** Returns a record's JSON, with the current time as `@timestamp` if it has none. */
function withTimestamp(line: string, now: number): string {
  const record: unknown = line.includes('"@timestamp"') ? JSON.parse(line) : {};
  if (typeof record !== 'object' || record === null || Object.hasOwn(record, '@timestamp')) return line;
  const rest = line.trimStart().slice(1);
  const time = `{"@timestamp":${JSON.stringify(new Date(now).toISOString())}`;
  return rest.trimStart().startsWith('}') ? `${time}${rest}` : `${time},${rest}`;
}

function parse(text: string, product: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unexpected(product);
  }
}
