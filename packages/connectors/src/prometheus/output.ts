import type { CreateOutput } from '@connector-frame/engine/connector-api';
import { toBlock } from '../kafka/compression/snappy.js';
import { createEncodedOutput, encodeEach } from '../_shared/output/encoded-output.js';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { send, type HttpResponse } from '../_shared/output/send.js';
import { isPage } from '../_shared/delivery/responses.js';
import type { PartResult } from '../_shared/output/split-batch.js';
import { readPrometheusTarget, type PrometheusTarget } from './config.js';
import { encodeWriteRequest, sampleOf, seriesKey, type Sample } from './samples.js';

export const PRODUCT = 'the Prometheus endpoint';
/** Series whose last time is remembered. */
const MAX_SERIES = 10_000;

/**
 * Sends samples by remote write 1.0. One request at a time: a receiver may refuse samples that are
 * older than others of their series. https://prometheus.io/docs/specs/prw/remote_write_spec/
 */
export const createPrometheusOutput: CreateOutput = (config, { egress, clock }) => {
  const target = readPrometheusTarget(config);
  const last = new Map<string, number>();

  /**
   * Returns the time for a record without one. A series has one sample for each millisecond, so
   * later ones count up.
   */
  function nextTime(sample: Sample, now: number): number {
    const key = seriesKey(sample);
    const time = Math.max(now, (last.get(key) ?? 0) + 1);
    last.delete(key);
    last.set(key, time);
    const [oldest] = last.keys();
    if (last.size > MAX_SERIES && oldest !== undefined) last.delete(oldest);
    return time;
  }

  return createEncodedOutput({
    batching: { records: 2_000, bytes: 1_000_000, waitMs: 1_000, waitFrom: 'write' },
    encode(batch) {
      const now = Math.floor(batch.at ?? clock.now());
      const { items, indexes, rejected } = encodeEach(batch, (index) =>
        sampleOf(batch.records[index] ?? {}, target.series),
      );
      const samples = items.map((sample) => ({ ...sample, time: sample.time ?? nextTime(sample, now) }));
      return { body: samples.length === 0 ? undefined : encodeWriteRequest(samples), indexes, rejected };
    },
    async open(signal) {
      const response = await write(target, new Uint8Array(), egress, signal);
      // Some receivers ask for at least one sample, after they have checked the credentials.
      if (response.status !== 400 && response.status >= 300) throw statusFailure(response, PRODUCT, clock.now());
    },
    async send(body, _indexes, signal): Promise<PartResult> {
      const response = await write(target, body, egress, signal);
      const { status } = response;
      if (status >= 200 && status < 300) {
        if (isPage(response)) throw unexpected(PRODUCT);
        return {};
      }
      // Samples that are out of order or too old, or labels that are not valid.
      if (status === 400 || status === 413 || status === 422)
        return { partRejection: `The Prometheus endpoint does not accept this sample (HTTP ${status}).` };
      throw statusFailure(response, PRODUCT, clock.now());
    },
  });
};

/** Sends a `WriteRequest`. @throws ConnectorError */
export function write(
  { url, authorization, verifyTls }: PrometheusTarget,
  message: Uint8Array,
  egress: Parameters<typeof send>[0],
  signal: AbortSignal,
): Promise<HttpResponse> {
  const headers = {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '0.1.0',
    ...(authorization !== undefined && { authorization }),
  };
  return send(egress, { url, headers, body: toBlock(Buffer.from(message)), verifyTls, product: PRODUCT }, signal);
}
