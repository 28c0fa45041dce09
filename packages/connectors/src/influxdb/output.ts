import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { CreateOutput, Egress } from '@connector-frame/engine/connector-api';
import { createEncodedOutput, encodeEach } from '../_shared/output/encoded-output.js';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { send, type HttpResponse } from '../_shared/output/send.js';
import type { PartResult } from '../_shared/output/split-batch.js';
import { readInfluxTarget, type InfluxTarget } from './config.js';
import { toLine } from './line-protocol.js';

export const PRODUCT = 'InfluxDB';
const compress = promisify(gzip);

/**
 * Writes points by the API of version 1 or 2. Points have the same time in each attempt, so repeated
 * ones replace themselves.
 */
export const createInfluxOutput: CreateOutput = (config, { egress, clock }) => {
  const target = readInfluxTarget(config);
  return createEncodedOutput({
    batching: { records: 5_000, bytes: 1_000_000, waitMs: 1_000, waitFrom: 'write' },
    ordering: 'none',
    encode(batch) {
      const now = batch.at ?? clock.now();
      const { items, indexes, rejected } = encodeEach(batch, (index) =>
        toLine(batch.records[index] ?? {}, target.point, batch.recordId(index), now),
      );
      return { body: items.length === 0 ? undefined : Buffer.from(items.join('\n')), indexes, rejected };
    },
    async send(body, _indexes, signal): Promise<PartResult> {
      const response = await write(target, body, egress, signal);
      const { status } = response;
      if (status === 204) return {};
      if (status >= 200 && status < 300) throw unexpected(PRODUCT);
      // The type of a field differs from that of earlier points, or the time is too old.
      if (status === 400 || status === 413 || status === 422)
        return { partRejection: `InfluxDB does not accept this record (HTTP ${status}).` };
      throw statusFailure(response, PRODUCT, clock.now());
    },
  });
};

/** @throws ConnectorError */
export async function write(
  { url, authorization, tls }: InfluxTarget,
  lines: Buffer,
  egress: Egress,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const zipped = lines.length >= 1_024;
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    ...(zipped && { 'content-encoding': 'gzip' }),
    ...(authorization !== undefined && { authorization }),
  };
  const body = zipped ? await compress(lines) : lines;
  return send(egress, { url, headers, body, ...tls, product: PRODUCT }, signal);
}
