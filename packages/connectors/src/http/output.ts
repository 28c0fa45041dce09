import { type Batching, ConnectorError, type CreateOutput, type Output } from '@connector-frame/engine/connector-api';
import { statusFailure } from '../_shared/output/failures.js';
import { splitBySize, writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { createRateLimiter } from '../_shared/output/rate-limiter.js';
import { invalidConfig, send } from '../_shared/output/send.js';
import { at } from '../_shared/read.js';
import { readRequest, type HttpRequest } from './config.js';
import { bodyOf, headersOf } from './request.js';

const PRODUCT = 'the server';

/** Statuses that reject the payload, with the reason to record when a single record is rejected. */
const REJECTED: ReadonlyMap<number, string> = new Map([
  [400, 'The server does not accept this record (HTTP 400).'],
  [413, 'The server does not accept a record of this size (HTTP 413).'],
  [422, 'The server does not accept this record (HTTP 422).'],
]);

/**
 * Sends records as JSON to a customer's endpoint. Any 2xx is an acknowledgment; the response body
 * is ignored.
 *
 * `Idempotency-Key` stays the same whenever the same records are sent again in one request.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
export const createHttpOutput: CreateOutput = (config, { egress, clock }): Output => {
  const request = readRequest(config);
  const { endpoint: url, method, structure, verifyTls } = request;
  if (url === undefined) throw invalidConfig('There is no address to send to.');
  // The body of a GET or DELETE has no defined semantics, and intermediaries may drop it. RFC 9110,
  // sections 9.3.1 and 9.3.5
  if (method === 'GET' || method === 'DELETE')
    throw invalidConfig(`${method} carries no records. Choose POST, PUT or PATCH.`);
  const headers = headersOf(request);
  if ('unsendable' in headers)
    throw invalidConfig('A header cannot be sent: its name, or a character in its value, is not allowed.');
  const batching = readBatching(request, config.settings);
  const { records: maxRecords, bytes: maxBytes } = batching;
  const takeTurn = createRateLimiter(1_000 / numberAt(config.settings, 'rate_limit'), clock);

  return {
    batching,
    ordering: 'none',
    write: (batch, signal) => {
      const count = batch.lines.length;
      const parts =
        count <= maxRecords && batch.bytes + count <= maxBytes
          ? [[...batch.lines.keys()]]
          : splitBySize(
              batch.lines.map((line) => Buffer.byteLength(line) + 1),
              maxRecords,
              maxBytes,
            );
      return writeParts(parts, async (indexes): Promise<PartResult> => {
        const part = batch.pick(indexes);
        const key = structure === 'single' ? part.recordId(0) : part.id;
        const own = new Headers(headers);
        own.set('idempotency-key', key);
        await takeTurn(signal);
        const response = await send(
          egress,
          {
            url,
            method,
            headers: own,
            body: bodyOf(request, part),
            verifyTls,
            product: PRODUCT,
          },
          signal,
        );
        const { status } = response;
        if (status >= 200 && status < 300) return {};
        const rejected = REJECTED.get(status);
        if (rejected !== undefined) return { partRejection: rejected };
        throw status === 405
          ? new ConnectorError(
              'rejected',
              `The server does not accept ${method} at this address (HTTP 405).`,
              'permanent',
            )
          : statusFailure(response, PRODUCT, clock.now());
      });
    },
  };
};

/** Limits of a request that the settings do not set. Many servers reject bodies over 1 MiB. */
export const DEFAULT_RECORDS = 500;
const DEFAULT_BYTES = 1_000_000;
/** Milliseconds for which records are collected for a request. */
export const WAIT_MS = 1_000;
/** Maximum bytes of a request, whatever the settings say: it is held in memory twice. */
const MAX_BYTES = 32 * 1024 * 1024;

function readBatching({ structure }: Pick<HttpRequest, 'structure'>, settings: object): Batching {
  if (structure === 'single') return { records: 1, bytes: MAX_BYTES, waitMs: 0 };
  const records = numberAt(settings, 'max_batch_record_count');
  const bytes = numberAt(settings, 'max_batch_data_size');
  const isUnlimited = records === Infinity && bytes === Infinity;
  return {
    records: isUnlimited ? DEFAULT_RECORDS : records,
    bytes: Math.min(isUnlimited ? DEFAULT_BYTES : bytes, MAX_BYTES),
    waitMs: WAIT_MS,
    waitFrom: 'write',
  };
}

/** Returns the limit, or `Infinity` if the settings contain none. */
function numberAt(settings: object, key: string): number {
  const value = at(settings, key);
  return typeof value === 'number' && value > 0 ? value : Infinity;
}
