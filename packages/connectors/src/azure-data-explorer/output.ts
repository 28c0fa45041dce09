import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Batch, CreateOutput, Egress } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { invalidConfig, send, type HttpResponse } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';
import { IngestionService } from './ingestion.js';

const PRODUCT = 'Azure Data Explorer';
const compress = promisify(gzip);

/**
 * Creates an output that adds records by queued ingestion: a blob with the records, and a message about
 * it. The service adds the rows within minutes, each property to the column of its name.
 */
export const createDataExplorerOutput: CreateOutput = (config, { egress, clock }) => {
  const service = new IngestionService(config, egress, clock);
  const database = text(config.settings, 'database');
  const table = text(config.settings, 'table');
  if (database === undefined || table === undefined) throw invalidConfig('Enter a database and a table.');
  let next = 0;
  const checked = (response: HttpResponse, isExpected: boolean): void => {
    if (isExpected) return;
    // A signature may be revoked before it expires.
    service.forget();
    throw response.status >= 300 ? statusFailure(response, PRODUCT, clock.now()) : unexpected(PRODUCT);
  };
  return {
    batching: { records: 50_000, bytes: 16 * 1024 * 1024, waitMs: 10_000 },
    ordering: 'none',
    maxConcurrency: 4,
    open: async (signal) => {
      await service.resources(signal);
    },
    async write(batch, signal) {
      const { containers, queues, authorization } = await service.resources(signal);
      next += 1;
      const [container, queue] = [containers[next % containers.length], queues[next % queues.length]];
      if (!container || !queue) throw unexpected(PRODUCT);
      const blob = below(container, `/${blobName(batch)}`);
      const stored = await upload(egress, blob, batch, signal);
      checked(stored, stored.status === 201);
      const message = {
        Id: idOf(batch),
        BlobPath: blob.href,
        RawDataSize: batch.bytes + batch.lines.length,
        DatabaseName: database,
        TableName: table,
        RetainBlobOnSuccess: false,
        FlushImmediately: false,
        ReportLevel: 0,
        ReportMethod: 0,
        AdditionalProperties: { authorizationContext: authorization, format: 'multijson' },
      };
      const queued = await enqueue(egress, below(queue, '/messages'), message, signal);
      checked(queued, queued.status === 201 && queued.text.includes('<QueueMessagesList'));
      return {};
    },
  };
};

/** https://learn.microsoft.com/rest/api/storageservices/put-blob */
async function upload(egress: Egress, blob: URL, { lines }: Batch, signal: AbortSignal): Promise<HttpResponse> {
  const body = await compress(lines.map((line) => `${line}\n`).join(''));
  const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-version': '2021-12-02', 'content-type': 'application/gzip' };
  return send(egress, { url: blob.href, method: 'PUT', headers, body, product: PRODUCT }, signal);
}

/** https://learn.microsoft.com/rest/api/storageservices/put-message */
function enqueue(egress: Egress, queue: URL, message: object, signal: AbortSignal): Promise<HttpResponse> {
  const content = Buffer.from(JSON.stringify(message)).toString('base64');
  const body = `<QueueMessage><MessageText>${content}</MessageText></QueueMessage>`;
  const headers = { 'content-type': 'application/xml', 'x-ms-version': '2021-12-02' };
  return send(egress, { url: queue.href, headers, body, product: PRODUCT }, signal);
}

/** Returns a URL below another one, with its signature. */
function below(root: URL, path: string): URL {
  const url = new URL(root);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  return url;
}

/** The ending says how the blob is compressed. */
const blobName = (batch: Batch): string => `connector-frame-${idOf(batch)}.multijson.gz`;

/** Returns a UUID that is the same in every attempt. */
const idOf = ({ id }: Batch): string =>
  createHash('sha256')
    .update(id)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
