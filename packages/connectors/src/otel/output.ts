import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Reader } from 'protobufjs/minimal.js';
import type { ConnectorContext, CreateOutput, Output, Rejection } from '@connector-frame/engine/connector-api';
import { GrpcChannel, type GrpcResult } from '../_shared/grpc/channel.js';
import { createEncodedOutput, encodeEach } from '../_shared/output/encoded-output.js';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { send, type HttpResponse } from '../_shared/output/send.js';
import { writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { at } from '../_shared/read.js';
import { isPage } from '../_shared/delivery/responses.js';
import { readOtelTarget, signalUrl, type OtelTarget } from './config.js';
import { encodeLog, encodeRequest } from './encode-logs.js';
import { joinRequests } from './passthrough.js';

export const PRODUCT = 'the OTLP receiver';
export const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
const NOT_ACCEPTED = 'The OTLP receiver does not accept this record.';
const compress = promisify(gzip);
/** Receivers of gRPC take 4 MiB by default. */
const BATCHING = { records: 1_000, bytes: 1_500_000, waitMs: 1_000, waitFrom: 'write' as const };

/**
 * Exports records to a receiver of OTLP: as log records in protobuf, or as they are in JSON.
 * https://opentelemetry.io/docs/specs/otlp/
 */
export const createOtelOutput: CreateOutput = (config, context): Output => {
  const target = readOtelTarget(config);
  const { wrap } = target;
  return wrap ? createLogOutput(target, wrap, context) : createPassthroughOutput(target, context);
};

function createLogOutput(
  target: OtelTarget,
  wrap: NonNullable<OtelTarget['wrap']>,
  { egress, clock }: ConnectorContext,
): Output {
  const { protocol, address, headers } = target;
  const channel =
    protocol === 'grpc'
      ? new GrpcChannel({ egress, address, product: PRODUCT, metadata: headers, gzip: true })
      : undefined;
  return createEncodedOutput({
    batching: BATCHING,
    ordering: 'none',
    encode(batch) {
      const now = batch.at ?? clock.now();
      const { items, indexes, rejected } = encodeEach(batch, (index) =>
        encodeLog(batch.lines[index] ?? '{}', wrap, now),
      );
      return { body: encodeRequest(items), indexes, rejected };
    },
    async send(body, indexes, signal) {
      if (channel) return grpcOutcome(await channel.call(EXPORT, body, signal), indexes);
      const response = await post(target, 'logs', Buffer.from(body), 'application/x-protobuf', { egress, signal });
      return httpOutcome(response, indexes, rejectedInProtobuf, clock.now());
    },
    ...(channel && { close: () => channel.close() }),
  });
}

function createPassthroughOutput(target: OtelTarget, { egress, clock }: ConnectorContext): Output {
  return {
    batching: BATCHING,
    ordering: 'none',
    async write(batch, signal) {
      const { parts, rejected } = joinRequests(batch);
      const result = await writeParts(
        parts.map(({ indexes }) => indexes),
        async (indexes): Promise<PartResult> => {
          const part = parts.find((each) => each.indexes === indexes);
          if (!part) return {};
          const response = await post(target, part.signal, part.body, 'application/json', { egress, signal });
          return httpOutcome(response, indexes, rejectedInJson, clock.now());
        },
      );
      return rejected.length === 0 ? result : { ...result, rejected: [...rejected, ...(result.rejected ?? [])] };
    },
  };
}

/** Sends a request of OTLP/HTTP. @throws ConnectorError */
export async function post(
  target: OtelTarget,
  kind: 'logs' | 'metrics' | 'traces',
  body: Buffer,
  contentType: string,
  { egress, signal }: { egress: ConnectorContext['egress']; signal: AbortSignal },
): Promise<HttpResponse> {
  const zipped = body.length >= 1_024;
  const headers = new Headers({ 'content-type': contentType, ...(zipped && { 'content-encoding': 'gzip' }) });
  for (const [name, value] of target.headers) headers.set(name, value);
  const content = zipped ? await compress(body) : body;
  const url = signalUrl(target, kind);
  return send(egress, { url, headers, body: content, verifyTls: target.verifyTls, product: PRODUCT }, signal);
}

function httpOutcome(
  response: HttpResponse,
  indexes: readonly number[],
  countIn: (response: HttpResponse) => number | undefined,
  now: number,
): PartResult {
  const { status } = response;
  if (status >= 200 && status < 300) {
    const count = isPage(response) ? undefined : countIn(response);
    if (count === undefined) throw unexpected(PRODUCT);
    return partial(count, indexes);
  }
  if (status === 400 || status === 413 || status === 422) return { partRejection: NOT_ACCEPTED };
  throw statusFailure(response, PRODUCT, now);
}

function grpcOutcome(result: GrpcResult, indexes: readonly number[]): PartResult {
  if ('refused' in result) return { partRejection: NOT_ACCEPTED };
  const count = countInMessage(result.message);
  if (count === undefined) throw unexpected(PRODUCT);
  return partial(count, indexes);
}

/** A receiver counts the records that it rejects, but does not say which. */
function partial(count: number, indexes: readonly number[]): PartResult {
  if (count <= 0) return {};
  const all = (): Rejection[] => indexes.map((index) => ({ index, reason: NOT_ACCEPTED }));
  return count >= indexes.length ? { rejected: all() } : { partRejection: NOT_ACCEPTED };
}

const rejectedInProtobuf = ({ bytes }: HttpResponse): number | undefined => countInMessage(bytes ?? new Uint8Array());

/** Returns `partial_success.rejected_log_records` of an `ExportLogsServiceResponse`. */
function countInMessage(message: Uint8Array): number | undefined {
  try {
    const reader = Reader.create(message);
    let count = 0;
    while (reader.pos < reader.len) {
      const outer = reader.uint32();
      if (outer !== 10) {
        reader.skipType(outer & 7);
        continue;
      }
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) {
        const inner = reader.uint32();
        if (inner === 8) count = Number(reader.int64());
        else reader.skipType(inner & 7);
      }
    }
    return count;
  } catch {
    return undefined;
  }
}

function rejectedInJson({ text }: HttpResponse): number | undefined {
  try {
    const body: unknown = text.trim() === '' ? {} : JSON.parse(text);
    const found = ['rejectedLogRecords', 'rejectedDataPoints', 'rejectedSpans']
      .map((name) => at(body, 'partialSuccess', name))
      .find((each) => each !== undefined);
    return found === undefined ? 0 : Number(found);
  } catch {
    return undefined;
  }
}
