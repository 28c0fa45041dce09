import {
  ConnectorError,
  EgressError,
  isSendable,
  type Egress,
  type EgressInit,
  type JsonValue,
} from '@connector-frame/engine/connector-api';
import { egressFailure } from '../_shared/output/failures.js';

/** Maximum bytes of a response, which may have more than the data. */
const MAX_RESPONSE = 256 * 1024;

/** A response whose body was read. */
export interface JsonResponse {
  status: number;
  headers: Headers;
  /** `undefined` if the body is no JSON. */
  body: JsonValue | undefined;
}

/**
 * Requests JSON.
 * @param product as used in a sentence: `the API`
 * @throws {ConnectorError}, or the reason of `init.signal`
 */
export async function getJson(
  egress: Egress,
  url: string,
  product: string,
  init: Pick<EgressInit, 'headers' | 'signal' | 'timeoutMs' | 'verifyTls'>,
): Promise<JsonResponse> {
  try {
    const response = await egress.fetch(url, { ...init, maxBytes: MAX_RESPONSE });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: jsonIn(text) };
  } catch (error) {
    if (error instanceof EgressError) throw egressFailure(error.reason, product);
    throw error;
  }
}

function jsonIn(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/**
 * Returns headers for a request.
 * @throws {ConnectorError} `invalid_config`
 */
export function requestHeaders(rows: readonly (readonly [name: string, value: string])[]): Headers {
  if (!rows.every((row) => isSendable(...row))) {
    const message = 'A header cannot be sent: its name, or a character in its value, is not allowed.';
    throw new ConnectorError('invalid_config', message, 'permanent');
  }
  const headers = new Headers({ accept: 'application/json' });
  for (const [name, value] of rows) headers.set(name, value);
  return headers;
}
