import type { Batch, Batching, Output, Rejection } from '@connector-frame/engine/connector-api';
import type { PartResult } from './split-batch.js';

/** The content of a request, made of the records that can be encoded. */
export interface EncodedRecords<Body> {
  /** `undefined`: no record can be encoded. */
  body: Body | undefined;
  /** Indexes of the records in the body. */
  indexes: readonly number[];
  rejected: readonly Rejection[];
}

export interface EncodedOutputOptions<Body> extends Pick<Output, 'ordering' | 'open' | 'close'> {
  batching: Batching;
  encode: (batch: Batch) => EncodedRecords<Body>;
  /** Sends a request. @throws ConnectorError */
  send: (body: Body, indexes: readonly number[], signal: AbortSignal) => Promise<PartResult>;
}

/** Creates an output that writes each batch with one request, without the records it can't encode. */
export function createEncodedOutput<Body>({ encode, send, ...output }: EncodedOutputOptions<Body>): Output {
  return {
    ...output,
    async write(batch, signal) {
      const { body, indexes, rejected } = encode(batch);
      const own = rejected.length > 0 && { rejected };
      if (body === undefined) return { ...own };
      const outcome = await send(body, indexes, signal);
      if ('partRejection' in outcome) return { ...own, refused: [{ indexes, reason: outcome.partRejection }] };
      return { ...outcome, ...((outcome.rejected || own) && { rejected: [...rejected, ...(outcome.rejected ?? [])] }) };
    },
  };
}

/** Encodes each record on its own; `encodeOne` returns the reason if it can't. */
export function encodeEach<Item>(
  batch: Batch,
  encodeOne: (index: number) => Item | { reason: string },
): { items: Item[]; indexes: number[]; rejected: Rejection[] } {
  const items: Item[] = [];
  const indexes: number[] = [];
  const rejected: Rejection[] = [];
  for (const index of batch.lines.keys()) {
    const item = encodeOne(index);
    if (typeof item === 'object' && item !== null && 'reason' in item) rejected.push({ index, reason: item.reason });
    else {
      items.push(item);
      indexes.push(index);
    }
  }
  return { items, indexes, rejected };
}
