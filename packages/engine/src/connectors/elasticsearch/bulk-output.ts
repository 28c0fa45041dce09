import type { Output } from '../../runner/ends.js';
import type { ConnectorContext } from '../connector-code.js';
import { createPartWriter, partsOf, type PartResult } from '../output/in-parts.js';
import { statusFailure, unexpected } from '../output/failures.js';
import { send, type Answer } from '../output/send.js';
import { FILTER, itemsOf, outcomeOf, wantsTimestamp } from './bulk-items.js';

/** Bytes of a request. The smallest limit there is, on small nodes of Amazon: 10 MiB. What a batch becomes is less. */
const MAX_BYTES = 5_000_000;
/** Bytes of an answer about 500 documents that were all refused at length. */
const MAX_ANSWER = 4_000_000;

export interface Cluster {
  /** As a sentence names it. */
  product: string;
  /** Address without a slash at the end. */
  base: string;
  index: string;
  authorization: string;
  verifyTls: boolean;
  ca?: string;
  /** Asks who we are; there to be answered, whatever the answer. */
  probe: string;
}

/**
 * Documents by `_bulk`, each told about by itself. They are created under the id of their record, so that one that comes
 * again is there already. Only `create` works for indices and data streams alike.
 * https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk
 */
export function createBulkOutput(cluster: Cluster, { egress, clock }: ConnectorContext): Output {
  const { product, base, index, authorization, verifyTls, ca } = cluster;
  const headers = { accept: 'application/json', authorization };
  const init = { verifyTls, product, ...(ca !== undefined && { ca }) };
  const action = (id: string): string => JSON.stringify({ create: { _index: index, _id: id } });
  /** Known once a data stream has turned away a document without a time. */
  let timestamps = false;

  function bulk(documents: readonly { id: string; line: string }[], signal: AbortSignal): Promise<Answer> {
    const body = documents.map(({ id, line }) => `${action(id)}\n${line}\n`).join('');
    const type = { 'content-type': 'application/x-ndjson' };
    const url = `${base}/_bulk?filter_path=${FILTER}`;
    return send(egress, { ...init, url, headers: { ...headers, ...type }, body, maxBytes: MAX_ANSWER }, signal);
  }

  const writeInParts = createPartWriter();
  return {
    async open(signal) {
      const answer = await send(egress, { ...init, url: `${base}${cluster.probe}`, method: 'GET', headers }, signal);
      // 400, 403, 404, 405: it answers, and does not tell.
      if (answer.status === 401 || answer.status === 429 || answer.status >= 500)
        throw statusFailure(answer, product, clock.now());
    },
    write: (batch, signal) => {
      const parts = partsOf(
        batch.lines.map((line) => Buffer.byteLength(line) + index.length + 100),
        Infinity,
        MAX_BYTES,
      );
      return writeInParts(batch, parts, async function writePart(indexes): Promise<PartResult> {
        const documents = indexes.map((at) => {
          const line = batch.lines[at] ?? '{}';
          return { id: batch.recordId(at), line: timestamps ? withTimestamp(line, clock.now()) : line };
        });
        const answer = await bulk(documents, signal);
        if (answer.status === 413) return { unwanted: `${product} does not accept a record of this size (HTTP 413).` };
        if (answer.status !== 200) throw statusFailure(answer, product, clock.now());
        const items = itemsOf(parse(answer.text, product), indexes.length, product);
        if (!timestamps && items.some(wantsTimestamp)) {
          timestamps = true;
          // Those that were taken are there already the second time.
          return writePart(indexes);
        }
        return outcomeOf(items, indexes, product);
      });
    },
  };
}

/** The JSON of a record, with the time of now where it has none of its own. */
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
