import { ConnectorError } from '@connector-frame/engine/connector-api';
import { statusFailure, throttled, unexpected } from '../_shared/output/failures.js';
import type { PartResult } from '../_shared/output/split-batch.js';
import type { HttpResponse } from '../_shared/output/send.js';
import { at } from '../_shared/read.js';

export const SPLUNK = 'Splunk HEC';

/**
 * Response codes of the HTTP Event Collector.
 * https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/troubleshoot-http-event-collector
 */
const SUCCESS = 0;
const TOKEN_DISABLED = 1;
const NO_DATA = 5;
const WRONG_INDEX = 7;
/** Token required, invalid authorization, invalid token. */
const TOKEN = [2, 3, 4];
/**
 * Errors of one event: invalid data format, event field required, event field blank, error in
 * indexed fields.
 */
const EVENT = [6, 12, 13, 15];
/** Busy, queues or acknowledgments full or nearly so, shutting down. */
const BUSY = [9, 18, 19, 20, 23, 24, 25, 26, 27];

/**
 * Converts a response to the outcome of the events in the request.
 * @throws ConnectorError
 */
export function outcomeOf(response: HttpResponse, now: number): PartResult {
  const { code, body } = read(response);
  if (response.status === 200 && code === SUCCESS) return {};
  if (code !== undefined && EVENT.includes(code)) {
    const index = at(body, 'invalid-event-number');
    const reason = `Splunk does not accept this record (HEC code ${code}).`;
    return { partRejection: reason, ...(typeof index === 'number' && { at: index }) };
  }
  if (response.status === 413) return { partRejection: 'Splunk does not accept a record of this size (HTTP 413).' };
  throw failureOf(response, code, now);
}

/**
 * Checks the response to an empty request: with a valid token it is "no data".
 * @throws ConnectorError for any other error
 */
export function expectToken(response: HttpResponse, now: number): void {
  const { code } = read(response);
  if (code !== NO_DATA && code !== SUCCESS) throw failureOf(response, code, now);
}

function failureOf(response: HttpResponse, code: number | undefined, now: number): ConnectorError {
  if (code === TOKEN_DISABLED)
    return new ConnectorError('forbidden', 'This HEC token is disabled. Enable it in Splunk.', 'permanent');
  if (code !== undefined && TOKEN.includes(code))
    return new ConnectorError('invalid_credentials', 'Splunk did not accept the HEC token.', 'permanent');
  if (code === WRONG_INDEX)
    return new ConnectorError(
      'invalid_index',
      'The HEC token may not write to this index, or the index does not exist.',
      'permanent',
    );
  if (code !== undefined && BUSY.includes(code)) {
    const failure = statusFailure(response, SPLUNK, now);
    return throttled('Splunk', failure.afterMs);
  }
  return response.status < 400 ? unexpected(SPLUNK) : statusFailure(response, SPLUNK, now);
}

function read({ text }: HttpResponse): { code: number | undefined; body: unknown } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { code: undefined, body };
  }
  const code = at(body, 'code');
  return { code: typeof code === 'number' ? code : undefined, body };
}
