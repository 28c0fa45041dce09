import { ConnectorError, type CreateOutput, type Output } from '@connector-frame/engine/connector-api';
import { statusFailure } from '../_shared/output/failures.js';
import { createPartWriter, partsOf, type PartResult } from '../_shared/output/in-parts.js';
import { createPace } from '../_shared/output/pace.js';
import { invalidConfig, send } from '../_shared/output/send.js';
import { at } from '../_shared/read.js';
import { bodyOf, headersOf, readRequest } from './request.js';

const PRODUCT = 'the server';

/** Statuses that reject the payload, with the reason to record when a single record is rejected. */
const UNWANTED: ReadonlyMap<number, string> = new Map([
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
    throw invalidConfig('A header can not be sent: its name is not allowed, or a character in it.');
  const maxRecords = structure === 'single' ? 1 : numberAt(config.settings, 'max_batch_record_count');
  const maxBytes = numberAt(config.settings, 'max_batch_data_size');
  const pace = createPace(1_000 / numberAt(config.settings, 'rate_limit'), clock);

  const writeInParts = createPartWriter();
  return {
    write: (batch, signal) => {
      const count = batch.lines.length;
      const parts =
        count <= maxRecords && batch.bytes + count <= maxBytes
          ? [[...batch.lines.keys()]]
          : partsOf(
              batch.lines.map((line) => Buffer.byteLength(line) + 1),
              maxRecords,
              maxBytes,
            );
      return writeInParts(batch, parts, async (indexes): Promise<PartResult> => {
        const part = batch.pick(indexes);
        const key = structure === 'single' ? part.recordId(0) : part.id;
        const own = new Headers(headers);
        own.set('idempotency-key', key);
        await pace(signal);
        const answer = await send(
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
        const { status } = answer;
        if (status >= 200 && status < 300) return {};
        const unwanted = UNWANTED.get(status);
        if (unwanted !== undefined) return { unwanted };
        throw status === 405
          ? new ConnectorError('rejected', `The server does not take ${method} here (HTTP 405).`, 'permanent')
          : statusFailure(answer, PRODUCT, clock.now());
      });
    },
  };
};

/** Returns the limit, or `Infinity` if the settings contain none. */
function numberAt(settings: object, key: string): number {
  const value = at(settings, key);
  return typeof value === 'number' && value > 0 ? value : Infinity;
}
